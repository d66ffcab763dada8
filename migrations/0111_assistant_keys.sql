-- The keys by which a shop signs its answers to assistants (ES256). The public part is published at /.well-known/ucp; the
-- private one is sealed with the key of the installation.
create table assistant_key (
  shop_id text not null,
  key_id uuid not null,
  public_key jsonb not null,
  private_key_sealed bytea not null,
  created_at timestamptz not null,
  constraint assistant_key_pkey primary key (shop_id, key_id)
);

-- Old keys are looked for over all shops.
create index assistant_key_created on assistant_key (created_at);

alter table assistant_key add constraint assistant_key_shop
  foreign key (shop_id) references shop (shop_id) on delete cascade;
