-- What a shop uses, by day (UTC), for the bills of the host (src/host/usage.ts). Orders are in order_day already.
create table shop_day (
  shop_id text not null,
  day date not null,
  -- Calls of its API, refused ones included.
  requests bigint not null default 0,
  -- Emails that were sent for it.
  emails bigint not null default 0,
  -- As they were on that day; null: not measured yet.
  media_bytes bigint,
  people bigint,
  products bigint,
  constraint shop_day_pkey primary key (shop_id, day)
);

alter table shop_day add constraint shop_day_shop foreign key (shop_id) references shop (shop_id) on delete cascade;

-- Totals over all shops, and old days.
create index shop_day_day on shop_day (day);
