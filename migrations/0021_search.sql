-- Lists of categories with the products of their subcategories, and search by the names of categories and the values
-- of variations. Both are derived in the transaction of a change, as the other lists are (0002_catalogue.sql).

-- The products that are in a visible category below this one and not in this one itself. A category and those below
-- it are then read in the order of two indexes, whatever their size. Roots have no rows here: the list of a whole
-- shop is there already.
create table subcategory_listing (
  shop_id text not null,
  category_id uuid not null,
  locale text not null,
  product_id uuid not null,
  visible boolean not null,
  name text collate "und-x-icu" not null,
  price bigint,
  constraint subcategory_listing_pkey primary key (shop_id, category_id, locale, product_id)
);

create index subcategory_listing_product on subcategory_listing (shop_id, product_id);

create index subcategory_listing_name on subcategory_listing
  (shop_id, category_id, locale, visible, name, product_id);

create index subcategory_listing_price on subcategory_listing
  (shop_id, category_id, locale, visible, price, product_id);

alter table subcategory_listing add constraint subcategory_listing_product
  foreign key (shop_id, product_id) references product (shop_id, product_id) on delete cascade;

-- How many rows a category has there, each product counted once.
alter table listing_size add column products_below bigint not null default 0;

-- Shops whose lists were written by an older version. They are rebuilt in the background, in small steps. A row ends
-- with the rebuild that was requested for it, not with another one: a process of the older version, which may still
-- run, would rebuild the lists as it knows them.
create table listing_upgrade (
  shop_id text not null,
  -- The rebuild that was requested for it; null: none yet.
  rebuild_id uuid,
  constraint listing_upgrade_pkey primary key (shop_id)
);

alter table listing_upgrade add constraint listing_upgrade_shop
  foreign key (shop_id) references shop (shop_id) on delete cascade;

insert into listing_upgrade (shop_id) select shop_id from shop;
