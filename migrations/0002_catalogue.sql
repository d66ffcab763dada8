-- The catalogue: categories, product types, products with their prices, images and watchers, and what is derived
-- from them for lists and search.
-- Stock is an exact decimal (rope is sold by the half metre). Prices are minor units by currency: {"EUR": 990};
-- a currency that is missing is converted with the shop's rate.

create extension if not exists pg_trgm;

create extension if not exists btree_gin;

alter table shop add column cross_selling_title jsonb not null default '{}';

-- Whether a master shows "from" prices: the lowest-price operation.
alter table shop add column show_from_prices boolean not null default true;

create table customer_group (
  shop_id text not null,
  customer_group_id uuid not null,
  name text not null,
  constraint customer_group_pkey primary key (shop_id, customer_group_id),
  constraint customer_group_name unique (shop_id, name)
);

alter table customer add column customer_group_id uuid;

create table category (
  shop_id text not null,
  category_id uuid not null,
  -- The number by which search filters name a category.
  number bigint not null,
  alias text not null,
  -- null: a root
  parent_id uuid,
  position integer not null,
  created_at timestamptz not null,
  name jsonb not null,
  page_title jsonb not null,
  navigation_caption jsonb not null,
  description jsonb not null,
  visible boolean not null,
  visible_in_navigation boolean not null,
  special_offer boolean not null,
  show_facets boolean not null,
  facet_start_depth integer not null,
  -- The folder and the sizes of its picture, as in product_image.
  image_key uuid,
  image_sizes jsonb,
  constraint category_pkey primary key (shop_id, category_id),
  constraint category_alias unique (shop_id, alias),
  constraint category_number unique (shop_id, number),
  constraint category_alias_form check (length(alias) between 1 and 200)
);

create index category_parent on category (shop_id, parent_id, position);

create table product_type (
  shop_id text not null,
  product_type_id uuid not null,
  alias text not null,
  name jsonb not null,
  created_at timestamptz not null,
  -- [{"number": 1, "key": "Colour", "name": {"en_GB": "Colour"}, "visible": true, "preDefined": true,
  --   "values": [{"value": "brass", "name": {"en_GB": "Brass"}}]}]; the number is what search filters name.
  attributes jsonb not null,
  constraint product_type_pkey primary key (shop_id, product_type_id),
  constraint product_type_alias unique (shop_id, alias)
);

create table product (
  shop_id text not null,
  product_id uuid not null,
  product_number text not null,
  kind text not null,
  master_id uuid,
  -- The values of a variation by attribute: {"Weight": "250 g", "Roast": "Medium"}.
  selection jsonb,
  created_at timestamptz not null,
  -- Moves with every change that shows in the product's answer, in the same transaction. A variation shows what it
  -- inherits, a master the prices of its variations: such changes move the other's version too.
  version bigint not null,
  -- null: not since it was created
  attributes_changed_at timestamptz,
  stock_changed_at timestamptz,
  visible boolean not null,
  -- null: not tracked
  stock numeric(18, 6),
  min_stock numeric(18, 6),
  -- null: the master's, else the shop's default
  tax_class_id uuid,
  product_type_id uuid,
  -- null: the master's
  prices jsonb,
  -- Name of an image of the slideshow; null: the master's.
  main_image text,
  -- Everything else a merchant says about it; a key that is missing is unset, or inherited from the master.
  facts jsonb not null,
  constraint product_pkey primary key (shop_id, product_id),
  constraint product_number unique (shop_id, product_number),
  constraint product_number_form check (length(product_number) between 1 and 100),
  constraint product_kind check (kind in ('regular', 'master', 'variation')),
  constraint product_variation check ((kind = 'variation') = (master_id is not null)),
  constraint product_variation_selection check ((kind = 'variation') = (selection is not null))
);

create unique index product_selection on product (shop_id, master_id, selection) where master_id is not null;

create index product_attributes_changed on product (shop_id, attributes_changed_at, product_id);

create index product_stock_changed on product (shop_id, stock_changed_at, product_id);

create index product_type_of on product (shop_id, product_type_id);

create index product_tax_class on product (shop_id, tax_class_id);

-- Every price that was ever asked, from the moment it was: the lowest one of 30 days must be named next to a
-- reduction (article 6a of directive 98/6/EC). null: no price any more.
create table price_history (
  shop_id text not null,
  product_id uuid not null,
  currency text not null,
  valid_from timestamptz not null,
  price bigint,
  constraint price_history_pkey primary key (shop_id, product_id, currency, valid_from)
);

create table product_image (
  shop_id text not null,
  product_id uuid not null,
  -- The name of the uploaded file.
  name text not null,
  position integer not null,
  -- The folder of its files: media/<shop>/<image_key>/. A new upload gets a new one, so files never change.
  image_key uuid not null,
  -- {"Large": {"file": "lamp.png", "width": 800, "height": 600, "bytes": 41234}, "Medium": null, ...}
  sizes jsonb not null,
  created_at timestamptz not null,
  constraint product_image_pkey primary key (shop_id, product_id, name),
  constraint product_image_key unique (shop_id, image_key)
);

create table product_category (
  shop_id text not null,
  product_id uuid not null,
  category_id uuid not null,
  -- The first one is the main category.
  position integer not null,
  constraint product_category_pkey primary key (shop_id, product_id, category_id)
);

create index product_category_products on product_category (shop_id, category_id, product_id);

create table cross_selling (
  shop_id text not null,
  product_id uuid not null,
  target_id uuid not null,
  position integer not null,
  constraint cross_selling_pkey primary key (shop_id, product_id, target_id)
);

create index cross_selling_target on cross_selling (shop_id, target_id);

-- Who wants a mail when a product is back. A row ends with the mail.
create table watcher (
  shop_id text not null,
  product_id uuid not null,
  email text not null,
  locale text not null,
  created_at timestamptz not null,
  constraint watcher_pkey primary key (shop_id, product_id, email),
  constraint watcher_email check (email = lower(email))
);

-- Derived from the tables above, in the same transaction: one row per product on sale in lists (not variations)
-- and locale of the shop. Lists read it in the order of its indexes, search by its words and parts of words.
create table listing (
  shop_id text not null,
  locale text not null,
  product_id uuid not null,
  visible boolean not null,
  name text collate "und-x-icu" not null,
  -- In the default currency; of a master the lowest of its variations.
  price bigint,
  -- Lower case: name, number, manufacturer, keywords. For parts of words and typing errors.
  text text not null,
  -- The same and the descriptions, in the locale's language.
  words tsvector not null,
  -- c:<category number>, m:<manufacturer>, a:<attribute number>:<value>: what can be counted and filtered; and of a
  -- master p:<highest price of its variations>.
  facets text[] not null,
  constraint listing_pkey primary key (shop_id, product_id, locale)
);

create index listing_name on listing (shop_id, locale, visible, name, product_id);

create index listing_price on listing (shop_id, locale, visible, price, product_id);

create index listing_text on listing using gin (shop_id, locale, text gin_trgm_ops);

create index listing_words on listing using gin (shop_id, locale, words);

create index listing_facets on listing using gin (shop_id, locale, facets);

-- The same for the products of a category: a category of any size is read in the order of an index.
create table category_listing (
  shop_id text not null,
  category_id uuid not null,
  locale text not null,
  product_id uuid not null,
  visible boolean not null,
  name text collate "und-x-icu" not null,
  price bigint,
  constraint category_listing_pkey primary key (shop_id, category_id, locale, product_id)
);

create index category_listing_product on category_listing (shop_id, product_id);

create index category_listing_name on category_listing (shop_id, category_id, locale, visible, name, product_id);

create index category_listing_price on category_listing (shop_id, category_id, locale, visible, price, product_id);

-- How many products a list has, so that no list is ever counted. The category 00000000-... is the whole shop.
create table listing_size (
  shop_id text not null,
  category_id uuid not null,
  visible boolean not null,
  products bigint not null,
  constraint listing_size_pkey primary key (shop_id, category_id, visible)
);

-- Every shop has a root category and a product type for what has no other.
insert into category (shop_id, category_id, number, alias, position, created_at, name, page_title, navigation_caption,
    description, visible, visible_in_navigation, special_offer, show_facets, facet_start_depth)
select shop_id, md5('root category of ' || shop_id)::uuid, 1, 'Categories', 0, created_at,
  jsonb_build_object(default_locale, 'Home page'), '{}', '{}', '{}', true, true, false, true, 3
from shop;

insert into product_type (shop_id, product_type_id, alias, name, created_at, attributes)
select shop_id, md5('product type of ' || shop_id)::uuid, 'Default', jsonb_build_object(default_locale, 'Default'),
  created_at, '[]'
from shop;

insert into counter (shop_id, name, value)
select shop_id, counters.name, counters.value
from shop cross join (values ('product', 1000), ('category', 1), ('attribute', 0)) as counters (name, value);

alter table customer_group add constraint customer_group_shop
  foreign key (shop_id) references shop (shop_id) on delete cascade;

alter table customer add constraint customer_customer_group
  foreign key (shop_id, customer_group_id) references customer_group (shop_id, customer_group_id);

alter table category add constraint category_shop
  foreign key (shop_id) references shop (shop_id) on delete cascade;

alter table category add constraint category_parent
  foreign key (shop_id, parent_id) references category (shop_id, category_id) on delete cascade;

alter table product_type add constraint product_type_shop
  foreign key (shop_id) references shop (shop_id) on delete cascade;

alter table product add constraint product_shop
  foreign key (shop_id) references shop (shop_id) on delete cascade;

alter table product add constraint product_master
  foreign key (shop_id, master_id) references product (shop_id, product_id) on delete cascade;

alter table product add constraint product_product_type
  foreign key (shop_id, product_type_id) references product_type (shop_id, product_type_id);

alter table product add constraint product_tax_class
  foreign key (shop_id, tax_class_id) references tax_class (shop_id, tax_class_id);

alter table price_history add constraint price_history_product
  foreign key (shop_id, product_id) references product (shop_id, product_id) on delete cascade;

alter table product_image add constraint product_image_product
  foreign key (shop_id, product_id) references product (shop_id, product_id) on delete cascade;

alter table product_category add constraint product_category_product
  foreign key (shop_id, product_id) references product (shop_id, product_id) on delete cascade;

alter table product_category add constraint product_category_category
  foreign key (shop_id, category_id) references category (shop_id, category_id) on delete cascade;

alter table cross_selling add constraint cross_selling_product
  foreign key (shop_id, product_id) references product (shop_id, product_id) on delete cascade;

alter table cross_selling add constraint cross_selling_target
  foreign key (shop_id, target_id) references product (shop_id, product_id) on delete cascade;

alter table watcher add constraint watcher_product
  foreign key (shop_id, product_id) references product (shop_id, product_id) on delete cascade;

alter table listing add constraint listing_product
  foreign key (shop_id, product_id) references product (shop_id, product_id) on delete cascade;

alter table category_listing add constraint category_listing_product
  foreign key (shop_id, product_id) references product (shop_id, product_id) on delete cascade;

alter table listing_size add constraint listing_size_shop
  foreign key (shop_id) references shop (shop_id) on delete cascade;
