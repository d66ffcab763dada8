-- What the admin shows of customers, carts and coupons.

-- Merchants find a customer by the beginning of a name. The operator class compares bytes, so that a beginning is a range
-- whatever the collation of the database is.
create index customer_full_name on customer (shop_id,
  (lower(coalesce(billing_address ->> 'firstName', '') || ' ' || coalesce(billing_address ->> 'lastName', '')))
  text_pattern_ops);

create index customer_last_name on customer (shop_id, (lower(billing_address ->> 'lastName')) text_pattern_ops);

create index customer_company on customer (shop_id, (lower(billing_address ->> 'company')) text_pattern_ops);
