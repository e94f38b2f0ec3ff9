-- Order-Status, clause 2.6. The customer is named by number, or by last name where the number is 0.
CREATE PROCEDURE plimsoll_order_status(p_w_id INT, p_d_id INT, p_c_id INT, p_c_last VARCHAR(16))
  MODIFIES SQL DATA SQL SECURITY INVOKER COMMENT '{mark}'
BEGIN
  DECLARE v_same, v_o_id, v_carrier INT;
  DECLARE v_balance DECIMAL(12, 2);
  DECLARE v_c_first, v_c_last VARCHAR(16);
  DECLARE v_c_middle CHAR(2);
  DECLARE v_entry_d DATETIME;
  DECLARE EXIT HANDLER FOR NOT FOUND
    SIGNAL SQLSTATE '45000' SET MYSQL_ERRNO = 1329, MESSAGE_TEXT = 'a row of the TPC-C-derived tables is not there';

  IF p_c_id = 0 THEN
    SELECT COUNT(*) INTO v_same FROM customer WHERE c_w_id = p_w_id AND c_d_id = p_d_id AND c_last = p_c_last;
    SET v_same = (v_same - 1) DIV 2;
    SELECT c_id INTO p_c_id FROM customer WHERE c_w_id = p_w_id AND c_d_id = p_d_id AND c_last = p_c_last
      ORDER BY c_first LIMIT v_same, 1;
  END IF;
  SELECT c_balance, c_first, c_middle, c_last INTO v_balance, v_c_first, v_c_middle, v_c_last
    FROM customer WHERE c_w_id = p_w_id AND c_d_id = p_d_id AND c_id = p_c_id;
  SELECT o_id, o_entry_d, o_carrier_id INTO v_o_id, v_entry_d, v_carrier
    FROM orders WHERE o_w_id = p_w_id AND o_d_id = p_d_id AND o_c_id = p_c_id ORDER BY o_id DESC LIMIT 1;
  SELECT p_c_id, v_balance, v_c_first, v_c_middle, v_c_last, v_o_id, v_entry_d, v_carrier;
  SELECT ol_i_id, ol_supply_w_id, ol_quantity, ol_amount, ol_delivery_d
    FROM order_line WHERE ol_w_id = p_w_id AND ol_d_id = p_d_id AND ol_o_id = v_o_id;
  COMMIT;
END
