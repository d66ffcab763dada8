-- Merchants look for an order by the last digits of its number (ORD261115/1001), which is its beginning read backwards.
-- In the order of bytes, so that a beginning is a range in every language.
create index customer_order_number_end on customer_order (shop_id, (reverse(order_number) collate "C"));
