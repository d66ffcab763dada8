-- Demo access ends for good when the first request comes through a proxy or from a stranger, and a shop uses a domain
-- only after it has proved that the domain is its own.

-- One row when demo access is closed, none while it is open: the known tokens, the demo owner, the demo payment and
-- webhooks to private addresses. It is a table, so that all processes know it and a restart does not forget it.
create table demo_access_end (
  is_only boolean not null default true,
  ended_at timestamptz not null,
  -- What the request looked like, for the operator: 'HTTP/1.0', 'the header via'.
  sign text not null,
  constraint demo_access_end_pkey primary key (is_only),
  constraint demo_access_end_only check (is_only),
  constraint demo_access_end_sign check (length(sign) between 1 and 200)
);

-- shop_domain holds the domains that are in use; these columns say since when and how that is proved. Both are null for
-- a domain from before there were proofs, which stays in use, and for one of a private installation.
alter table shop_domain
  add column proved_at timestamptz,
  add column proof text;

-- The domains that a shop has named and not proved. Several shops may name the same one: a claim alone is worth nothing,
-- so that it can't keep the owner of the domain from using it.
create table pending_domain (
  shop_id text not null,
  host text not null,
  -- In the whole list of the shop's domains, those in use included.
  position integer not null,
  added_at timestamptz not null,
  constraint pending_domain_pkey primary key (shop_id, host),
  constraint pending_domain_host check (host = lower(host) and host ~ '^[a-z0-9.-]+(:[0-9]+)?$' and length(host) <= 259),
  constraint pending_domain_position check (position between 0 and 19)
);
alter table pending_domain add constraint pending_domain_shop foreign key (shop_id) references shop (shop_id)
  on delete cascade;
