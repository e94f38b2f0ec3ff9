-- New-Order, clause 2.4. `p_lines` has 20 digits for each line: number (2), item (6), supplying warehouse (10), quantity (2);
-- in the order in which stocks are locked, and a line whose item is not there last.
CREATE PROCEDURE plimsoll_new_order(p_w_id INT, p_d_id INT, p_c_id INT, p_all_local INT, p_lines VARCHAR(300))
  MODIFIES SQL DATA SQL SECURITY INVOKER COMMENT '{mark}'
BEGIN
  DECLARE v_at INT DEFAULT 1;
  DECLARE v_rolled_back INT DEFAULT 0;
  DECLARE v_o_id, v_number, v_item, v_supply, v_quantity, v_stock INT;
  DECLARE v_c_discount, v_w_tax, v_d_tax DECIMAL(4, 4);
  DECLARE v_price, v_amount DECIMAL(6, 2);
  DECLARE v_total DECIMAL(12, 2) DEFAULT 0;
  DECLARE v_c_last VARCHAR(16);
  DECLARE v_c_credit CHAR(2);
  DECLARE v_name, v_information VARCHAR(24);
  DECLARE v_i_data, v_s_data VARCHAR(50);
  DECLARE v_shown VARCHAR(1500) DEFAULT '';
  DECLARE EXIT HANDLER FOR NOT FOUND
    SIGNAL SQLSTATE '45000' SET MYSQL_ERRNO = 1329, MESSAGE_TEXT = 'a row of the TPC-C-derived tables is not there';

  SELECT c_discount, c_last, c_credit, w_tax INTO v_c_discount, v_c_last, v_c_credit, v_w_tax
    FROM customer JOIN warehouse ON w_id = c_w_id WHERE c_w_id = p_w_id AND c_d_id = p_d_id AND c_id = p_c_id;
  SELECT d_next_o_id, d_tax INTO v_o_id, v_d_tax
    FROM district WHERE d_w_id = p_w_id AND d_id = p_d_id FOR UPDATE;
  UPDATE district SET d_next_o_id = d_next_o_id + 1 WHERE d_w_id = p_w_id AND d_id = p_d_id;
  INSERT INTO orders (o_id, o_d_id, o_w_id, o_c_id, o_entry_d, o_ol_cnt, o_all_local)
    VALUES (v_o_id, p_d_id, p_w_id, p_c_id, NOW(), CHAR_LENGTH(p_lines) DIV 20, p_all_local);
  INSERT INTO new_orders (no_o_id, no_d_id, no_w_id) VALUES (v_o_id, p_d_id, p_w_id);

  WHILE v_at < CHAR_LENGTH(p_lines) DO
    SET v_number = SUBSTRING(p_lines, v_at, 2), v_item = SUBSTRING(p_lines, v_at + 2, 6),
      v_supply = SUBSTRING(p_lines, v_at + 8, 10), v_quantity = SUBSTRING(p_lines, v_at + 18, 2), v_price = NULL;
    BEGIN
      DECLARE CONTINUE HANDLER FOR NOT FOUND SET v_rolled_back = 1;
      SELECT i_price, i_name, i_data INTO v_price, v_name, v_i_data FROM item WHERE i_id = v_item;
    END;
    IF v_price IS NOT NULL THEN
      SELECT s_quantity, s_data, ELT(p_d_id, s_dist_01, s_dist_02, s_dist_03, s_dist_04, s_dist_05, s_dist_06, s_dist_07,
          s_dist_08, s_dist_09, s_dist_10) INTO v_stock, v_s_data, v_information
        FROM stock WHERE s_w_id = v_supply AND s_i_id = v_item FOR UPDATE;
      SET v_stock = v_stock - v_quantity + IF(v_stock >= v_quantity + 10, 0, 91);
      UPDATE stock SET s_quantity = v_stock, s_ytd = s_ytd + v_quantity, s_order_cnt = s_order_cnt + 1,
          s_remote_cnt = s_remote_cnt + (v_supply <> p_w_id)
        WHERE s_w_id = v_supply AND s_i_id = v_item;
      SET v_amount = v_price * v_quantity, v_total = v_total + v_amount;
      INSERT INTO order_line (ol_o_id, ol_d_id, ol_w_id, ol_number, ol_i_id, ol_supply_w_id, ol_quantity, ol_amount,
          ol_dist_info)
        VALUES (v_o_id, p_d_id, p_w_id, v_number, v_item, v_supply, v_quantity, v_amount, v_information);
      SET v_shown = CONCAT_WS('|', v_shown, v_number, v_name, v_stock,
        IF(LOCATE('ORIGINAL', v_i_data) AND LOCATE('ORIGINAL', v_s_data), 'B', 'G'), v_price, v_amount);
    END IF;
    SET v_at = v_at + 20;
  END WHILE;

  IF v_rolled_back THEN
    ROLLBACK;
  ELSE
    COMMIT;
  END IF;
  SELECT v_rolled_back, v_o_id, v_c_last, v_c_credit, v_c_discount, v_w_tax, v_d_tax,
    v_total * (1 - v_c_discount) * (1 + v_w_tax + v_d_tax), v_shown;
END
