-- Product files that merchants import in the admin. A file is read in the background, so that a large one does not keep a
-- request waiting and an import goes on after a restart.
create table product_import (
  shop_id text not null,
  -- Begins with its moment, so the primary key is also the order of time.
  import_id uuid not null,
  -- The email address of the person.
  author text not null,
  file_name text not null,
  -- The text of the file, decoded.
  content text not null,
  -- mapping: waits until the merchant has said what the columns are. checked: waits for the word to begin.
  state text not null,
  -- What the columns are, the decimal sign, and whether new products are shown.
  reading jsonb not null,
  row_count bigint not null,
  -- Counted in the transaction that saves the rows, so that none is saved twice.
  rows_done bigint not null,
  created bigint not null,
  changed bigint not null,
  unchanged bigint not null,
  refused bigint not null,
  -- The rows that are not taken, with line, column and reason; not all of them where there are very many.
  problems jsonb not null,
  new_categories jsonb not null,
  -- When a process may take it. Whoever takes it moves this to the end of its lease. null: there is nothing to do.
  run_at timestamptz,
  -- How often it was taken. Who has taken it last is the one whose progress counts.
  attempts bigint not null,
  -- Why it has failed as a whole.
  error text,
  constraint product_import_pkey primary key (shop_id, import_id),
  constraint product_import_author check (length(author) <= 254),
  constraint product_import_file_name check (length(file_name) <= 200),
  constraint product_import_content check (octet_length(content) <= 33554432),
  constraint product_import_state
    check (state in ('mapping', 'checking', 'checked', 'importing', 'done', 'failed')),
  constraint product_import_error check (length(error) <= 2000)
);

alter table product_import add constraint product_import_shop foreign key (shop_id) references shop (shop_id)
  on delete cascade;

-- Processes look for what is due over all shops.
create index product_import_due on product_import (run_at) where run_at is not null;
