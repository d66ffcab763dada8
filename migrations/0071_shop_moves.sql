-- Moves that merchants make in the admin: another shop that is checked and then imported in the background, so that a large
-- one goes on after a restart.

create table shop_move (
  shop_id text not null,
  -- Begins with its moment, so the primary key is also the order of time.
  move_id uuid not null,
  -- The email address of the person.
  author text not null,
  -- shopify, woocommerce, shopware: files; epages: an API.
  system text not null,
  -- The address of the API, and its token, sealed with the key of the installation until the move has ended.
  address text,
  token_sealed bytea,
  -- open: files may be added.
  state text not null,
  -- What is imported, and the numbers with which this shop goes on.
  options jsonb not null,
  -- By the kind of record.
  counts jsonb not null,
  pictures bigint not null,
  records_done bigint not null,
  -- How many records a check has found; null: unknown.
  records_all bigint,
  -- Lines of its report, also those that are not kept.
  lines bigint not null,
  -- Names of files that are no tables of an export.
  unknown_files jsonb not null,
  -- When a process may take it. Whoever takes it moves this to the end of its lease. null: there is nothing to do.
  run_at timestamptz,
  -- How often it was taken. Who has taken it last is the one whose progress counts.
  attempts bigint not null,
  -- Why it has failed as a whole.
  error text,
  constraint shop_move_pkey primary key (shop_id, move_id),
  constraint shop_move_lengths
    check (length(author) <= 254 and length(system) <= 20 and length(address) <= 1000 and length(error) <= 2000),
  constraint shop_move_state check (state in ('open', 'checking', 'checked', 'importing', 'done', 'failed'))
);

alter table shop_move add constraint shop_move_shop foreign key (shop_id) references shop (shop_id) on delete cascade;

-- Processes look for what is due over all shops.
create index shop_move_due on shop_move (run_at) where run_at is not null;

-- The files of a move, in parts of a megabyte, so that no process holds one as a whole.
create table shop_move_part (
  shop_id text not null,
  move_id uuid not null,
  file_number bigint not null,
  part_number bigint not null,
  file_name text not null,
  content bytea not null,
  constraint shop_move_part_pkey primary key (shop_id, move_id, file_number, part_number),
  constraint shop_move_part_lengths check (length(file_name) <= 200 and octet_length(content) <= 1048576)
);

alter table shop_move_part add constraint shop_move_part_move
  foreign key (shop_id, move_id) references shop_move (shop_id, move_id) on delete cascade;

-- What was left out, and why.
create table shop_move_line (
  shop_id text not null,
  move_id uuid not null,
  line_number bigint not null,
  -- product, customer, order, ...
  kind text not null,
  -- The file or the address of the request, and the line in it.
  place text not null,
  line bigint,
  -- What it is about: a number, a name.
  name text not null,
  reason text not null,
  constraint shop_move_line_pkey primary key (shop_id, move_id, line_number)
);

alter table shop_move_line add constraint shop_move_line_move
  foreign key (shop_id, move_id) references shop_move (shop_id, move_id) on delete cascade;
