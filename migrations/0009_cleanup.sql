-- Work that goes on beside the requests: data that is deleted when it is old, and lists of products that are rebuilt
-- after a change of settings. Both are done by one process at a time, which holds a lease: a process that dies leaves a
-- lease that ends by itself, and another one goes on. What they do may safely happen twice, so the lease saves work
-- and decides nothing.

-- One row per step of the clean-up. Not a tenant's data.
create table cleanup (
  name text not null,
  due_at timestamptz not null,
  leased_until timestamptz not null,
  -- The process that has the lease; null: nobody has had it yet.
  holder uuid,
  constraint cleanup_pkey primary key (name)
);

-- The clean-up finds old entries of all shops by it.
create index audit_entry_at on audit_entry (at);

-- It asks which images a category shows, by the folders of their files.
create index category_image on category (shop_id, image_key) where image_key is not null;

-- Days without orders are deleted by the change that empties them. These are left from before.
delete from order_day where orders = 0;

-- A shop whose lists must be rebuilt, because its locales, currencies or exchange rates have changed. The row is
-- written with the settings, and deleted when all products are done.
create table listing_rebuild (
  shop_id text not null,
  -- Every request has a new one, so that a worker notices that it has to begin anew.
  rebuild_id uuid not null,
  requested_at timestamptz not null,
  -- The products up to this one, in the order of their ids, are done.
  last_product_id uuid not null,
  -- How many that are.
  products bigint not null,
  holder uuid,
  leased_until timestamptz not null,
  constraint listing_rebuild_pkey primary key (shop_id)
);

alter table listing_rebuild add constraint listing_rebuild_shop
  foreign key (shop_id) references shop (shop_id) on delete cascade;
