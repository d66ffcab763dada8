-- How many pieces beyond the stock are promised to orders that wait for them. The stock itself never pays for a promise:
-- it counts what is there and free.
alter table product add column promised numeric not null default 0;
alter table product add constraint product_promised check (promised >= 0) not valid;

-- What lines of orders wait, or have waited, for. Written only while the product's row is locked.
create table backorder_line (
  shop_id text not null,
  order_id uuid not null,
  line_item_id uuid not null,
  product_id uuid not null,
  -- Of the order: first come, first served.
  ordered_at timestamptz not null,
  -- Promised beyond the stock when it was ordered, or added to the order.
  quantity numeric not null,
  -- What of it still waits.
  waiting numeric not null,
  -- The date that the customer knows; null: none was named.
  expected_on date,
  -- When the last of it was assigned.
  ready_at timestamptz,
  -- The customer has yet to be told that it is ready.
  is_untold boolean not null default false,
  constraint backorder_line_pkey primary key (shop_id, order_id, line_item_id),
  constraint backorder_line_quantities check (quantity > 0 and waiting >= 0 and waiting <= quantity)
);

create index backorder_line_queue on backorder_line (shop_id, product_id, ordered_at, order_id, line_item_id)
  where waiting > 0;
create index backorder_line_untold on backorder_line (shop_id, order_id) where is_untold;

alter table backorder_line add constraint backorder_line_order
  foreign key (shop_id, order_id) references customer_order (shop_id, order_id) on delete cascade;

-- Jobs that tell customers of new dates, and of what has arrived.
alter table job drop constraint job_queue;
alter table job add constraint job_queue
  check (queue in ('mail', 'mailing', 'rule call', 'assistant order', 'backorder'));
