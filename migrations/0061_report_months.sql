-- Sums of the days of a month (UTC), from which reports over long periods are read: a product that is sold every day has one
-- row a month instead of thirty. They are derived from report_day in the background; a report reads a month only as long
-- as its days are still those that it was summed from.
create table report_month (
  shop_id text not null,
  -- product, country, payment, source, group, customer
  dimension text not null,
  -- The first day of it.
  month date not null,
  currency text not null,
  -- As in report_day.
  key text not null,
  orders bigint not null,
  quantity numeric not null,
  -- Minor units, not rounded.
  gross numeric not null,
  net numeric not null,
  constraint report_month_pkey primary key (shop_id, dimension, month, currency, key)
);

-- The months that are in report_month, with the fingerprint of their days in report_state.
create table report_month_state (
  shop_id text not null,
  month date not null,
  print text not null,
  constraint report_month_state_pkey primary key (shop_id, month)
);

-- How often a day was counted, which is part of the fingerprint of its month: a day that is counted twice may have the same
-- fingerprint of its own, although its customers have changed their group in between. The previous version, which may
-- run beside, does not write it; the days that it counts have another fingerprint or another last change.
alter table report_state add column revision bigint not null default 0;

alter table report_month add constraint report_month_shop
  foreign key (shop_id) references shop (shop_id) on delete cascade;

alter table report_month_state add constraint report_month_state_shop
  foreign key (shop_id) references shop (shop_id) on delete cascade;
