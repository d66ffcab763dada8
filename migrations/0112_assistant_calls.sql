-- The last calls of assistants, which the merchant looks at. A shop has a few hundred rows at most: older ones are deleted
-- with each write.
create table assistant_call (
  shop_id text not null,
  -- Begins with its moment, so the primary key is also the order of time.
  call_id uuid not null,
  called_at timestamptz not null,
  -- The address of the assistant's profile; empty: it named none that could be read.
  profile text not null,
  -- search_catalog
  operation text not null,
  transport text not null,
  -- The status of HTTP, and the code of what was refused; null: it was answered.
  status smallint not null,
  problem text,
  -- The signature of the assistant was verified.
  signed boolean not null,
  constraint assistant_call_pkey primary key (shop_id, call_id),
  constraint assistant_call_lengths check (
    length(profile) <= 500 and length(operation) <= 40 and length(problem) <= 60),
  constraint assistant_call_transport check (transport in ('rest', 'mcp'))
);

-- Calls of shops that nobody asks any more.
create index assistant_call_time on assistant_call (called_at);

alter table assistant_call add constraint assistant_call_shop
  foreign key (shop_id) references shop (shop_id) on delete cascade;
