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
