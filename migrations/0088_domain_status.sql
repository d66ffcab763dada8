-- What the service has found out about the domains that shops have named: whether they lead here, and the certificate
-- that browsers get. One row for each domain in shop_domain and pending_domain; whether it is proved stands there.
create table domain_status (
  shop_id text not null,
  host text not null,
  -- When it is checked next; a process that checks it moves this, so that no other one does.
  due_at timestamptz not null,
  -- Checks in a row that did not find everything as it should be: the next one waits longer.
  attempts integer not null default 0,
  -- Null: not checked yet. The columns below are null where they were not asked for.
  checked_at timestamptz,
  -- 'unknown': the name servers did not answer.
  routing text,
  -- Where the domain leads, some of its addresses.
  addresses text[] not null default '{}',
  certificate text,
  issuer text,
  valid_until timestamptz,
  -- The names that the certificate is for, some of them.
  names text[] not null default '{}',
  constraint domain_status_pkey primary key (shop_id, host),
  constraint domain_status_host check (host = lower(host) and host ~ '^[a-z0-9.-]+(:[0-9]+)?$' and length(host) <= 259),
  constraint domain_status_attempts check (attempts between 0 and 1000),
  constraint domain_status_routing check (routing in ('here', 'elsewhere', 'nowhere', 'unknown')),
  constraint domain_status_addresses check (cardinality(addresses) <= 8),
  constraint domain_status_certificate check (certificate in ('valid', 'expired', 'otherName', 'untrusted', 'none')),
  constraint domain_status_issuer check (length(issuer) <= 200),
  constraint domain_status_names check (cardinality(names) <= 10)
);
alter table domain_status add constraint domain_status_shop foreign key (shop_id) references shop (shop_id)
  on delete cascade;

create index domain_status_due on domain_status (due_at);

insert into domain_status (shop_id, host, due_at)
select shop_domain.shop_id, host, added_at from shop_domain join shop on shop.shop_id = shop_domain.shop_id;
insert into domain_status (shop_id, host, due_at)
select shop_id, host, added_at from pending_domain
on conflict (shop_id, host) do nothing;
