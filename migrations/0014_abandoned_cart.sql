-- Carts that nobody has touched for a while are told of in the log of events, once for each time that they are left.

-- Set by the step of the clean-up that has dealt with the cart, whether or not there was something to tell; null since
-- the last change. Carts that are there already are taken for told of, so that the upgrade makes no flood of events:
-- the default of the new column costs them nothing, and new carts have none.
alter table cart add column abandoned_at timestamptz default '-infinity';

alter table cart alter column abandoned_at drop default;

-- For that step. It holds nothing that changes while somebody fills a cart, so that such a change touches no index.
create index cart_abandoned on cart (created_at) where abandoned_at is null;
