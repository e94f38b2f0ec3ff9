-- Payment, clause 2.5. The customer is named by number, or by last name where the number is 0.
CREATE PROCEDURE plimsoll_payment(p_w_id INT, p_d_id INT, p_c_w_id INT, p_c_d_id INT, p_c_id INT, p_c_last VARCHAR(16),
    p_amount DECIMAL(6, 2))
  MODIFIES SQL DATA SQL SECURITY INVOKER COMMENT '{mark}'
BEGIN
  DECLARE v_same INT;
  DECLARE v_c_discount DECIMAL(4, 4);
  DECLARE v_c_credit_lim, v_c_balance DECIMAL(12, 2);
  DECLARE v_w_name, v_d_name VARCHAR(10);
  DECLARE v_c_first, v_c_last VARCHAR(16);
  DECLARE v_w_street_1, v_w_street_2, v_w_city, v_d_street_1, v_d_street_2, v_d_city, v_c_street_1, v_c_street_2, v_c_city
    VARCHAR(20);
  DECLARE v_w_state, v_d_state, v_c_state, v_c_middle, v_c_credit CHAR(2);
  DECLARE v_w_zip, v_d_zip, v_c_zip CHAR(9);
  DECLARE v_c_phone CHAR(16);
  DECLARE v_c_since DATETIME;
  DECLARE EXIT HANDLER FOR NOT FOUND
    SIGNAL SQLSTATE '45000' SET MYSQL_ERRNO = 1329, MESSAGE_TEXT = 'a row of the TPC-C-derived tables is not there';

  UPDATE warehouse SET w_ytd = w_ytd + p_amount WHERE w_id = p_w_id;
  SELECT w_name, w_street_1, w_street_2, w_city, w_state, w_zip
    INTO v_w_name, v_w_street_1, v_w_street_2, v_w_city, v_w_state, v_w_zip FROM warehouse WHERE w_id = p_w_id;
  UPDATE district SET d_ytd = d_ytd + p_amount WHERE d_w_id = p_w_id AND d_id = p_d_id;
  SELECT d_name, d_street_1, d_street_2, d_city, d_state, d_zip
    INTO v_d_name, v_d_street_1, v_d_street_2, v_d_city, v_d_state, v_d_zip
    FROM district WHERE d_w_id = p_w_id AND d_id = p_d_id;
  IF p_c_id = 0 THEN
    SELECT COUNT(*) INTO v_same FROM customer WHERE c_w_id = p_c_w_id AND c_d_id = p_c_d_id AND c_last = p_c_last;
    SET v_same = (v_same - 1) DIV 2;
    SELECT c_id INTO p_c_id FROM customer WHERE c_w_id = p_c_w_id AND c_d_id = p_c_d_id AND c_last = p_c_last
      ORDER BY c_first LIMIT v_same, 1;
  END IF;
  SELECT c_credit, c_first, c_middle, c_last, c_street_1, c_street_2, c_city, c_state, c_zip, c_phone, c_since, c_credit_lim,
      c_discount, c_balance
    INTO v_c_credit, v_c_first, v_c_middle, v_c_last, v_c_street_1, v_c_street_2, v_c_city, v_c_state, v_c_zip, v_c_phone,
      v_c_since, v_c_credit_lim, v_c_discount, v_c_balance
    FROM customer WHERE c_w_id = p_c_w_id AND c_d_id = p_c_d_id AND c_id = p_c_id FOR UPDATE;
  IF v_c_credit = 'BC' THEN
    UPDATE customer SET c_balance = c_balance - p_amount, c_ytd_payment = c_ytd_payment + p_amount,
        c_payment_cnt = c_payment_cnt + 1,
        c_data = LEFT(CONCAT(CONCAT_WS(' ', p_c_id, p_c_d_id, p_c_w_id, p_d_id, p_w_id, p_amount), '|', c_data), 500)
      WHERE c_w_id = p_c_w_id AND c_d_id = p_c_d_id AND c_id = p_c_id;
  ELSE
    UPDATE customer SET c_balance = c_balance - p_amount, c_ytd_payment = c_ytd_payment + p_amount,
        c_payment_cnt = c_payment_cnt + 1
      WHERE c_w_id = p_c_w_id AND c_d_id = p_c_d_id AND c_id = p_c_id;
  END IF;
  INSERT INTO history (h_c_id, h_c_d_id, h_c_w_id, h_d_id, h_w_id, h_date, h_amount, h_data)
    VALUES (p_c_id, p_c_d_id, p_c_w_id, p_d_id, p_w_id, NOW(), p_amount, CONCAT(v_w_name, '    ', v_d_name));
  COMMIT;
  SELECT p_c_id, v_w_street_1, v_w_street_2, v_w_city, v_w_state, v_w_zip, v_d_street_1, v_d_street_2, v_d_city, v_d_state,
    v_d_zip, v_c_first, v_c_middle, v_c_last, v_c_street_1, v_c_street_2, v_c_city, v_c_state, v_c_zip, v_c_phone, v_c_since,
    v_c_credit, v_c_credit_lim, v_c_discount, v_c_balance - p_amount;
END
