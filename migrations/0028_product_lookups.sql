-- What the pages of merchants look products up by.

-- Products that are sold out or at their warning level, by the product that stands in lists: a variation counts for its
-- master. The predicate is what `availabilityOf` says in other words.
create index product_low_stock on product (shop_id, (coalesce(master_id, product_id)), stock)
  where kind <> 'master' and stock <= greatest(min_stock, 0);

-- A scanner reads the code that is printed on the product.
create index product_ean on product (shop_id, (facts ->> 'ean')) where facts ? 'ean';

create index product_upc on product (shop_id, (facts ->> 'upc')) where facts ? 'upc';
