-- What an assistant proposes and a person must confirm in the admin: a refund, a deletion.
create table assistant_plan (
  shop_id text not null,
  plan_id uuid not null,
  -- Stays readable after the assistant is gone.
  app_id uuid not null,
  app_name text not null,
  -- create_order_refund
  tool text not null,
  -- The operations that it calls, one after the other, with the parts of their requests. As json, because it is signed as it
  -- is written.
  calls json not null,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  -- Who answers it: from then on nobody else does.
  user_id uuid,
  -- open, confirmed or declined
  state text not null,
  decided_at timestamptz,
  constraint assistant_plan_pkey primary key (shop_id, plan_id),
  constraint assistant_plan_tool check (length(tool) between 1 and 60),
  constraint assistant_plan_calls check (length(calls::text) <= 100000),
  constraint assistant_plan_state check (state in ('open', 'confirmed', 'declined'))
);

-- Those that an assistant has open, and those that are over.
create index assistant_plan_app on assistant_plan (shop_id, app_id) where state = 'open';
create index assistant_plan_time on assistant_plan (created_at);

alter table assistant_plan add constraint assistant_plan_shop
  foreign key (shop_id) references shop (shop_id) on delete cascade;
