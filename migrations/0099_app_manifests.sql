-- Apps that describe themselves by a manifest at their address: their name, scopes, webhooks and pages.
create table app_manifest (
  shop_id text not null,
  app_id uuid not null,
  -- Where the manifest is. Everything that it names has the same origin.
  address text not null,
  -- What the merchant has agreed to; null: nothing yet.
  agreed jsonb,
  -- What was read last and asks for more than the merchant has agreed to; null: nothing does.
  offered jsonb,
  -- Made by the service from the picture that the manifest names, as a PNG.
  icon bytea,
  read_at timestamptz not null,
  -- When it is read next; a process that reads it moves this, so that no other one does.
  due_at timestamptz not null,
  -- Why it could not be read the last time, in English; null: it could.
  problem text,
  -- What the merchant has typed into the fields that the manifest asks for; those that are secret are sealed together.
  settings jsonb not null default '{}',
  secrets_sealed bytea,
  constraint app_manifest_pkey primary key (shop_id, app_id),
  constraint app_manifest_address unique (shop_id, address),
  constraint app_manifest_address_length check (length(address) between 1 and 2000),
  constraint app_manifest_content check (agreed is not null or offered is not null),
  constraint app_manifest_icon check (length(icon) <= 65536),
  constraint app_manifest_problem check (length(problem) <= 500)
);
alter table app_manifest add constraint app_manifest_app foreign key (shop_id, app_id)
  references app (shop_id, app_id) on delete cascade;

create index app_manifest_due on app_manifest (due_at) where agreed is not null;

-- A manifest names these webhooks; the others were created by the app itself.
alter table webhook add column by_manifest boolean not null default false;

-- The keys that sign what pages of apps are told about their reader. The public part is published; the private one is
-- sealed with the key of the installation.
create table signing_key (
  key_id uuid not null,
  public_key jsonb not null,
  private_key_sealed bytea not null,
  created_at timestamptz not null,
  constraint signing_key_pkey primary key (key_id)
);
