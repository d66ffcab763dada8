-- What people of the shop write about customers, and the sums by which they choose them.

-- A tag, as it was typed. Two tags that differ in upper and lower case only are the same one.
create table customer_tag (
  shop_id text not null,
  customer_id uuid not null,
  tag_key text not null,
  tag text not null,
  constraint customer_tag_pkey primary key (shop_id, customer_id, tag_key),
  constraint customer_tag_form check (length(tag) between 1 and 40 and tag_key = lower(tag))
);

-- The customers with a tag, and the tags of a shop one after the other.
create index customer_tag_key on customer_tag (shop_id, tag_key, customer_id);

alter table customer_tag add constraint customer_tag_customer
  foreign key (shop_id, customer_id) references customer (shop_id, customer_id) on delete cascade;

create table customer_note (
  shop_id text not null,
  customer_id uuid not null,
  -- Begins with its moment, so the primary key is also the order of time.
  note_id uuid not null,
  created_at timestamptz not null,
  -- The email address of the person, who may have left the shop since.
  author text not null,
  note text not null,
  constraint customer_note_pkey primary key (shop_id, customer_id, note_id),
  constraint customer_note_author check (length(author) <= 254),
  constraint customer_note_form check (length(note) between 1 and 2000)
);

alter table customer_note add constraint customer_note_customer
  foreign key (shop_id, customer_id) references customer (shop_id, customer_id) on delete cascade;

-- A named filter of the list of customers, which all people of the shop share.
create table customer_segment (
  shop_id text not null,
  segment_id uuid not null,
  name text not null,
  -- {"tags": "wholesale", "country": "DE", "minOrders": "3"}: the parameters of the list.
  filter jsonb not null,
  created_at timestamptz not null,
  author text not null,
  constraint customer_segment_pkey primary key (shop_id, segment_id),
  constraint customer_segment_name check (length(name) between 1 and 60),
  constraint customer_segment_filter check (jsonb_typeof(filter) = 'object' and pg_column_size(filter) <= 8192),
  constraint customer_segment_author check (length(author) <= 254)
);

create unique index customer_segment_names on customer_segment (shop_id, lower(name));

alter table customer_segment add constraint customer_segment_shop
  foreign key (shop_id) references shop (shop_id) on delete cascade;

-- The orders of each customer that count, which are those neither cancelled nor rejected. They are written with the
-- orders, in the same transaction. One row for each currency, and one for all of them, whose currency is ''.
create table customer_total (
  shop_id text not null,
  customer_id uuid not null,
  currency text not null,
  orders bigint not null,
  -- Minor units; 0 for all currencies.
  gross bigint not null,
  refunded bigint not null,
  worth bigint not null generated always as (gross - refunded) stored,
  first_order_at timestamptz not null,
  last_order_at timestamptz not null,
  -- The language of the last order.
  language text not null,
  constraint customer_total_pkey primary key (shop_id, customer_id, currency)
);

create index customer_total_orders on customer_total (shop_id, orders, customer_id) where currency = '';
create index customer_total_last on customer_total (shop_id, last_order_at, customer_id) where currency = '';
create index customer_total_language on customer_total (shop_id, language, customer_id) where currency = '';
create index customer_total_worth on customer_total (shop_id, currency, worth, customer_id) where currency <> '';

alter table customer_total add constraint customer_total_customer
  foreign key (shop_id, customer_id) references customer (shop_id, customer_id) on delete cascade;

-- How far the orders from before this table are counted. Customers are walked through twice: the second time a day later,
-- because a process of the version before may have placed orders beside this one until then.
create table customer_total_run (
  shop_id text not null,
  due_at timestamptz not null,
  -- 1, 2; 3: both rounds are done.
  round smallint not null,
  -- The last customer of this round.
  customer_id uuid not null,
  constraint customer_total_run_pkey primary key (shop_id)
);

create index customer_total_run_due on customer_total_run (due_at);

alter table customer_total_run add constraint customer_total_run_shop
  foreign key (shop_id) references shop (shop_id) on delete cascade;

create index customer_country on customer (shop_id, (billing_address ->> 'country'), created_at, customer_id);

-- The subscriptions of an address, over all newsletters.
create index newsletter_subscriber_email on newsletter_subscriber (shop_id, email) where subscribed;
