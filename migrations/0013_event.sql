-- What happened in a shop and matters outside of it: orders, products, customers, settings. An event is written in the
-- transaction of its cause, so that it exists if, and only if, its cause does (src/platform/events/log.ts).

-- The counter `event` is the position of a shop's last event. Its row is locked until the commit, so that positions,
-- and the times beside them, follow commits: who has seen a position has seen all those before it.
-- Milliseconds since 1970, because Citus allows no arithmetic with timestamps where the counter is moved.
alter table counter add column at bigint;

create table event (
  shop_id text not null,
  -- 1, 2, 3 and so on in each shop, without gaps.
  position bigint not null,
  at timestamptz not null,
  type text not null,
  -- The order, product, customer or whatever it is about; null: the shop itself.
  resource_id uuid,
  -- Who caused it; null: a shopper, a command or the service itself. The app may be gone.
  app_id uuid,
  -- What changed. It never holds what identifies a person, because events are not erased with one.
  data jsonb not null,
  constraint event_pkey primary key (shop_id, position),
  constraint event_type check (length(type) between 1 and 40),
  constraint event_data check (pg_column_size(data) <= 8192)
);

insert into counter (shop_id, name, value) select shop_id, 'event', 0 from shop;

alter table event add constraint event_shop foreign key (shop_id) references shop (shop_id) on delete cascade;

-- The clean-up finds old events of all shops by it.
create index event_at on event (at);
