-- What came from another shop: which of our things is which of theirs, so an import can be run again and changes only
-- what has changed there.

create table import_record (
  shop_id text not null,
  -- The software it came from, and of an API its address.
  source text not null,
  -- product, customer, order, category, ...
  kind text not null,
  -- Its id there: a handle, a number, an id.
  source_id text collate "C" not null,
  target_id uuid not null,
  -- Of the record as it was read.
  source_hash bytea not null,
  -- Of what was written, where that shows whether it was edited here since; null: its own times show it.
  target_hash bytea,
  imported_at timestamptz not null,
  constraint import_record_pkey primary key (shop_id, source, kind, source_id),
  constraint import_record_lengths check (length(source) between 1 and 300 and length(source_id) between 1 and 300)
);

create index import_record_target on import_record (shop_id, target_id);

alter table import_record add constraint import_record_shop
  foreign key (shop_id) references shop (shop_id) on delete cascade;
