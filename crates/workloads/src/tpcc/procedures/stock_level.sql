-- Stock-Level, clause 2.8.
CREATE PROCEDURE plimsoll_stock_level(p_w_id INT, p_d_id INT, p_threshold INT)
  MODIFIES SQL DATA SQL SECURITY INVOKER COMMENT '{mark}'
BEGIN
  DECLARE v_next INT;
  DECLARE EXIT HANDLER FOR NOT FOUND
    SIGNAL SQLSTATE '45000' SET MYSQL_ERRNO = 1329, MESSAGE_TEXT = 'a row of the TPC-C-derived tables is not there';

  SELECT d_next_o_id INTO v_next FROM district WHERE d_w_id = p_w_id AND d_id = p_d_id;
  SELECT COUNT(DISTINCT s_i_id) FROM order_line JOIN stock ON s_w_id = ol_w_id AND s_i_id = ol_i_id
    WHERE ol_w_id = p_w_id AND ol_d_id = p_d_id AND ol_o_id >= v_next - 20 AND ol_o_id < v_next
      AND s_quantity < p_threshold;
  COMMIT;
END
