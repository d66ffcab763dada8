-- The hosts that shops have of their own. A shop's pages are an origin of their own there, so that the scripts of one
-- shop's apps can't read the pages of another.

-- Deliberately not a tenant table: a host belongs to one shop of the whole installation, so it is the key by itself,
-- and shop_domain_pkey refuses a host that another shop has. On Citus it is a reference table, which can have no
-- foreign key to the distributed table shop: whoever deletes a shop deletes its rows here in the same transaction.
create table shop_domain (
  -- As browsers send it: lower case, with a port if it is not the usual one.
  host text not null,
  shop_id text not null,
  -- 0 is the main one, which links lead to.
  position integer not null,
  -- When the shop's list was written last: processes learn from it that their copy in memory is old.
  added_at timestamptz not null,
  constraint shop_domain_pkey primary key (host),
  constraint shop_domain_host check (host = lower(host) and host ~ '^[a-z0-9.-]+(:[0-9]+)?$' and length(host) <= 259),
  constraint shop_domain_position check (position between 0 and 19)
);
create index shop_domain_shop on shop_domain (shop_id, position);
