-- An order is new until somebody opens it in the admin. Orders that were there before count as seen, and so do those that
-- a process of the version before places during an upgrade. This is no state of the order: neither its version nor its last change
-- moves, and no event tells of it.
alter table customer_order add column is_new boolean not null default false;

-- The new orders of a shop are few, so that they are listed and counted from this index alone.
create index customer_order_new on customer_order (shop_id, created_at, order_id) where is_new;
