-- How many orders a promotion is part of, for promotions with a limit. Promotions are settings and have no table, so
-- their ids refer to none. Both are written under the lock of the counters of orders, and given back when an order is
-- cancelled.
create table promotion_use (
  shop_id text not null,
  promotion_id uuid not null,
  used bigint not null,
  constraint promotion_use_pkey primary key (shop_id, promotion_id),
  constraint promotion_use_used check (used >= 0)
);

-- The same of each customer.
create table promotion_customer_use (
  shop_id text not null,
  promotion_id uuid not null,
  customer_id uuid not null,
  used bigint not null,
  constraint promotion_customer_use_pkey primary key (shop_id, customer_id, promotion_id),
  constraint promotion_customer_use_used check (used >= 0)
);

alter table promotion_use add constraint promotion_use_shop
  foreign key (shop_id) references shop (shop_id) on delete cascade;
alter table promotion_customer_use add constraint promotion_customer_use_customer
  foreign key (shop_id, customer_id) references customer (shop_id, customer_id) on delete cascade;
