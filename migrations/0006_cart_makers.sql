-- Who made a cart, and whether somebody has picked it up: whoever makes a cart through the public API keeps its token,
-- and must not read or change what a visitor does with the cart after opening the link to it.

-- The app whose token made the cart; null: anybody, or the storefront. Only an app may keep the access to a cart that a
-- visitor has picked up, see the addresses that open it without its token, and order without tax. No foreign key, as
-- with customer_order.app_id: a cart outlives the app that made it, and ends by itself after 30 days.
alter table cart add column app_id uuid;

-- A visitor got a copy of this cart; its token has ended. The cart stays, unchanged, because its link may be opened
-- again.
alter table cart add column picked_up_at timestamptz;
