-- The checkout sessions of assistants. A session is a cart whose buyer is about to order; it stays after the cart, because
-- the order knows by it which assistant has brought the buyer. The id that the assistant has is made from session_id and the
-- key of the installation, so nothing here opens a session.
create table assistant_session (
  shop_id text not null,
  session_id uuid not null,
  -- The address of the assistant's profile.
  profile text not null,
  -- The assistant has signed when it made the session, so requests without a signature are not its own.
  signed boolean not null,
  cart_id uuid not null,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  -- The assistant has ended it. Whoever had opened its link before may still order.
  cancelled_at timestamptz,
  constraint assistant_session_pkey primary key (shop_id, session_id),
  -- A cart is one session, however often the assistant asks for it.
  constraint assistant_session_cart unique (shop_id, cart_id),
  constraint assistant_session_profile check (length(profile) between 1 and 500)
);

-- Sessions of all shops that have ended long ago.
create index assistant_session_end on assistant_session (expires_at);

alter table assistant_session add constraint assistant_session_shop
  foreign key (shop_id) references shop (shop_id) on delete cascade;

-- The session that a cart belongs to. A buyer who opens the link of the session has a copy, which belongs to it, too.
alter table cart add column assistant_session_id uuid;

-- The session whose buyer has placed the order.
alter table customer_order add column assistant_session_id uuid;

create index customer_order_assistant on customer_order (shop_id, assistant_session_id, order_id)
  where assistant_session_id is not null;
