
-- The products that have prices in price lists: the pages of a list, and its end, look at no others.
create index product_of_price_lists on product (shop_id, product_number) where facts ? 'listPrices';
