-- Sums of the orders of a day (UTC) by product, country, payment method and so on, from which the reports are read. They
-- are derived from the orders, in the background and day by day; orders are placed and changed without writing them.
create table report_day (
  shop_id text not null,
  -- product, country, payment, source, group, customer
  dimension text not null,
  day date not null,
  currency text not null,
  -- The id of the product, method, app or group, or the code of the country; '' is what has none.
  key text not null,
  orders bigint not null,
  quantity numeric not null,
  -- Minor units, not rounded.
  gross numeric not null,
  net numeric not null,
  constraint report_day_pkey primary key (shop_id, dimension, day, currency, key)
);

-- The days that are in report_day. A day counts as it is there as long as the fingerprint of its sums in order_day, which
-- change with the orders in the same transaction, is still this one, and no order of it was changed after that.
create table report_state (
  shop_id text not null,
  day date not null,
  print text not null,
  -- The last change of an order of this day that is counted.
  counted_until timestamptz not null,
  constraint report_state_pkey primary key (shop_id, day)
);

-- When a shop is looked at next, and up to which change of its orders it was.
create table report_run (
  shop_id text not null,
  due_at timestamptz not null,
  checked_until timestamptz not null,
  constraint report_run_pkey primary key (shop_id)
);

create index report_run_due on report_run (due_at);

alter table report_day add constraint report_day_shop
  foreign key (shop_id) references shop (shop_id) on delete cascade;

alter table report_state add constraint report_state_shop
  foreign key (shop_id) references shop (shop_id) on delete cascade;

alter table report_run add constraint report_run_shop
  foreign key (shop_id) references shop (shop_id) on delete cascade;
