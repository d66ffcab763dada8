-- The host: who runs the installation for many shops, through the API at /host (src/host/).

-- Access tokens of the host. They open nothing of a shop, and only their hash is stored.
create table host_token (
  token_hash bytea not null,
  token_id uuid not null,
  name text not null,
  scopes text[] not null,
  created_at timestamptz not null,
  last_used_at timestamptz,
  constraint host_token_pkey primary key (token_hash),
  constraint host_token_id unique (token_id),
  constraint host_token_name check (length(name) between 1 and 100)
);

-- The first answer to a write of the host that carried an Idempotency-Key: `idempotent_answer` belongs to shops, and a
-- shop that is created does not exist yet.
create table host_answer (
  caller bytea not null,
  key text not null,
  request_hash bytea not null,
  created_at timestamptz not null,
  -- null only inside of the transaction that is still working on it
  status integer,
  headers jsonb,
  body text,
  constraint host_answer_pkey primary key (caller, key)
);

create index host_answer_created on host_answer (created_at);

-- What happened to shops: created, suspended, deleted and so on. It outlives them, so it names a shop by a column that
-- is no key of it. Positions follow commits, because each takes its own from `host_log` last, which locks it.
create table host_event (
  position bigint not null,
  at timestamptz not null,
  type text not null,
  shop text not null,
  -- Who did it: the name of a token, the email address of a user; null: the command line, or the service itself.
  by_name text,
  data jsonb not null,
  constraint host_event_pkey primary key (position)
);

create index host_event_of_shop on host_event (shop, position);

-- One row: the last position.
create table host_log (
  id boolean not null default true,
  position bigint not null,
  constraint host_log_pkey primary key (id),
  constraint host_log_one check (id)
);

insert into host_log (position) values (0);

-- When the shop is deleted; until then it is closed as a suspended one is, and can be restored. null: it stays.
alter table shop add column deletion_at timestamptz;

create index shop_deletion on shop (deletion_at) where deletion_at is not null;

-- The name of its plan; null: the default one.
alter table shop add column plan text;

alter table shop add constraint shop_plan check (length(plan) between 1 and 63);
