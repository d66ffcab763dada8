-- Products that are delivered as files or licence keys once they are paid.
create table digital_product (
  shop_id text not null,
  product_id uuid not null,
  -- Each piece that is sold gets a key of the pool.
  has_keys boolean not null,
  -- Of each file and purchase; null: any number.
  max_downloads integer,
  -- How long files can be downloaded after the delivery; null: for ever.
  days integer,
  -- The shop is warned when fewer keys are left.
  few_keys integer not null,
  -- It was warned since there were enough.
  is_warned boolean not null default false,
  constraint digital_product_pkey primary key (shop_id, product_id),
  constraint digital_product_limits check (
    max_downloads between 1 and 10000 and days between 1 and 3650 and few_keys between 0 and 10000)
);

alter table digital_product add constraint digital_product_product
  foreign key (shop_id, product_id) references product (shop_id, product_id) on delete cascade;

-- Files that buyers of a product download. They outlive the product: what was bought can be downloaded.
create table download_file (
  shop_id text not null,
  file_id uuid not null,
  product_id uuid not null,
  -- The name of the file that is saved.
  name text not null,
  -- What is new in this version.
  note text,
  -- Counts the uploads; buyers always get the last one.
  version integer not null,
  -- The folder of its parts in the storage of media.
  storage_key uuid not null,
  bytes bigint not null,
  sha256 text not null,
  created_at timestamptz not null,
  changed_at timestamptz not null,
  -- Earlier buyers are told of this version: those of orders after this one have yet to be. null: nobody is.
  told_until uuid,
  constraint download_file_pkey primary key (shop_id, file_id),
  constraint download_file_size check (bytes >= 1 and version >= 1),
  constraint download_file_lengths check (length(name) between 1 and 150 and length(note) between 1 and 1000)
);

create index download_file_of_product on download_file (shop_id, product_id, file_id);
create index download_file_telling on download_file (shop_id, file_id) where told_until is not null;
create index download_file_storage on download_file (shop_id, storage_key);

alter table download_file add constraint download_file_shop
  foreign key (shop_id) references shop (shop_id) on delete cascade;

-- The pool of keys of a product, and which purchase has got which. A key is given away once, even after a refund.
create table licence_key (
  shop_id text not null,
  -- Begins with its moment: the oldest key is given first.
  key_id uuid not null,
  product_id uuid not null,
  -- Sealed with the key of the installation.
  key_sealed bytea not null,
  -- Keyed with the key of the installation: no key is taken twice, and nobody guesses short ones by their hash.
  key_hash bytea not null,
  -- For people who look for it; empty where the key is short.
  last_characters text not null,
  -- null: it is free.
  order_id uuid,
  line_item_id uuid,
  given_at timestamptz,
  -- The purchase was refunded or cancelled, in whole or for this piece.
  revoked_at timestamptz,
  constraint licence_key_pkey primary key (shop_id, key_id),
  constraint licence_key_once unique (shop_id, product_id, key_hash),
  constraint licence_key_given check (
    (order_id is null) = (line_item_id is null) and (order_id is null) = (given_at is null)
    and (revoked_at is null or order_id is not null))
);

create index licence_key_free on licence_key (shop_id, product_id, key_id) where order_id is null;
create index licence_key_of_order on licence_key (shop_id, order_id, line_item_id) where order_id is not null;

alter table licence_key add constraint licence_key_shop
  foreign key (shop_id) references shop (shop_id) on delete cascade;

-- What the lines of orders have got, or wait for.
create table download_delivery (
  shop_id text not null,
  order_id uuid not null,
  line_item_id uuid not null,
  product_id uuid not null,
  -- When it was due: first come, first served.
  created_at timestamptz not null,
  -- null: it has begun. Else it begins then, or with the consent of the customer (Directive 2011/83/EU, article 16 (m)).
  begins_at timestamptz,
  delivered_at timestamptz,
  has_keys boolean not null,
  -- Keys that the pool did not have.
  keys_waiting integer not null default 0,
  max_downloads integer,
  expires_at timestamptz,
  -- By the shop; what is refunded or cancelled stops by itself.
  revoked_at timestamptz,
  constraint download_delivery_pkey primary key (shop_id, order_id, line_item_id),
  constraint download_delivery_waiting check (keys_waiting >= 0)
);

create index download_delivery_waiting on download_delivery (shop_id, product_id, created_at) where keys_waiting > 0;
create index download_delivery_begins on download_delivery (shop_id, begins_at) where begins_at is not null;
create index download_delivery_of_product on download_delivery (shop_id, product_id, order_id);

alter table download_delivery add constraint download_delivery_order
  foreign key (shop_id, order_id) references customer_order (shop_id, order_id) on delete cascade;

-- How often a purchase has downloaded a file.
create table download_use (
  shop_id text not null,
  order_id uuid not null,
  line_item_id uuid not null,
  file_id uuid not null,
  downloads integer not null,
  last_at timestamptz not null,
  constraint download_use_pkey primary key (shop_id, order_id, line_item_id, file_id)
);

alter table download_use add constraint download_use_delivery
  foreign key (shop_id, order_id, line_item_id)
  references download_delivery (shop_id, order_id, line_item_id) on delete cascade;

-- How far the events of a shop with such products were read.
create table download_run (
  shop_id text not null,
  position bigint not null,
  holder uuid,
  leased_until timestamptz,
  constraint download_run_pkey primary key (shop_id)
);

alter table download_run add constraint download_run_shop
  foreign key (shop_id) references shop (shop_id) on delete cascade;
