-- Changes of many products at once, which merchants make in the admin. They run in the background in small pieces, so that
-- no order waits for them, and can be undone for a day.
create table bulk_edit (
  shop_id text not null,
  -- Begins with its moment, so the primary key is also the order of time.
  edit_id uuid not null,
  created_at timestamptz not null,
  -- The email address of the person.
  author text not null,
  -- {"kind": "setStock", "amount": 20}
  action jsonb not null,
  state text not null,
  -- Products and variations that it is about.
  items bigint not null,
  -- Counted in the transaction that changes the products, so that none is changed twice.
  items_done bigint not null,
  changed bigint not null,
  refused bigint not null,
  -- The same of the undoing: `kept` were changed by somebody else since, and stay as they are.
  undone bigint not null,
  kept bigint not null,
  -- When a process may take it. Whoever takes it moves this to the end of its lease. null: there is nothing to do.
  run_at timestamptz,
  -- How often it was taken. Who has taken it last is the one whose progress counts.
  attempts bigint not null,
  error text,
  constraint bulk_edit_pkey primary key (shop_id, edit_id),
  constraint bulk_edit_author check (length(author) <= 254),
  constraint bulk_edit_action check (jsonb_typeof(action) = 'object' and pg_column_size(action) <= 2048),
  constraint bulk_edit_state check (state in ('running', 'done', 'undoing', 'undone', 'failed')),
  constraint bulk_edit_error check (length(error) <= 2000)
);

alter table bulk_edit add constraint bulk_edit_shop foreign key (shop_id) references shop (shop_id) on delete cascade;

-- Processes look for what is due over all shops.
create index bulk_edit_due on bulk_edit (run_at) where run_at is not null;

create table bulk_edit_item (
  shop_id text not null,
  edit_id uuid not null,
  position integer not null,
  product_id uuid not null,
  -- waiting, changed, unchanged, refused; after the undoing: undone, kept.
  state text not null,
  -- The value that was changed, before and after: what is undone is put back only where it is still the latter.
  before jsonb,
  after jsonb,
  -- Why it was refused.
  problem text,
  constraint bulk_edit_item_pkey primary key (shop_id, edit_id, position),
  constraint bulk_edit_item_state
    check (state in ('waiting', 'changed', 'unchanged', 'refused', 'undone', 'kept')),
  constraint bulk_edit_item_problem check (length(problem) <= 60)
);

-- The next ones of an edit, and those that were refused or kept.
create index bulk_edit_item_by_state on bulk_edit_item (shop_id, edit_id, state, position);

alter table bulk_edit_item add constraint bulk_edit_item_edit
  foreign key (shop_id, edit_id) references bulk_edit (shop_id, edit_id) on delete cascade;

-- The carts of each day (UTC) in which they were created: how many got an address, and how many became orders. Carts end
-- after 30 days, so the days are counted while their carts are there, and kept.
create table cart_day (
  shop_id text not null,
  day date not null,
  carts bigint not null,
  with_address bigint not null,
  ordered bigint not null,
  counted_at timestamptz not null,
  constraint cart_day_pkey primary key (shop_id, day)
);

alter table cart_day add constraint cart_day_shop foreign key (shop_id) references shop (shop_id) on delete cascade;

-- When the carts of a shop are counted next.
create table cart_day_run (
  shop_id text not null,
  due_at timestamptz not null,
  constraint cart_day_run_pkey primary key (shop_id)
);

create index cart_day_run_due on cart_day_run (due_at);

alter table cart_day_run add constraint cart_day_run_shop
  foreign key (shop_id) references shop (shop_id) on delete cascade;
