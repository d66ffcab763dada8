-- A demo that strangers may use (KONTOR_DEMO) deletes its shops and creates them again at every full hour.

-- One row where this database belongs to such a demo, and none in every other: a demo does not start on the shops of
-- others. Whoever creates the shops locks the row first.
create table public_demo (
  is_only boolean not null default true,
  constraint public_demo_pkey primary key (is_only),
  constraint public_demo_only check (is_only)
);
