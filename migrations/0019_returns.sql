-- Returns that customers ask for, and withdrawals from the contract, beside the returns that the merchant records.

-- `withdrawn`: the customer has withdrawn from the contract (Consumer Rights Directive, article 11a), which nobody can
-- reject. Returns that exist were recorded when the goods were there.
alter table order_return add column state text not null default 'received';
alter table order_return add column origin text not null default 'merchant';
-- What the customer says about it. A withdrawal needs none.
alter table order_return add column reason text;
-- What was withdrawn before it was sent, with its text, because it is no longer in the order:
-- [{"lineItemId": "...", "quantity": "2", "text": "2 pieces Tea"}]
alter table order_return add column unsent_lines jsonb not null default '[]';
-- Who has withdrawn, and where the acknowledgement went.
alter table order_return add column declared_by text;
alter table order_return add column contact text;

alter table order_return add constraint order_return_state
  check (state in ('requested', 'approved', 'rejected', 'withdrawn', 'received', 'refunded'));

alter table order_return add constraint order_return_origin check (origin in ('merchant', 'customer', 'withdrawal'));

-- The returns of one state, oldest first.
create index order_return_by_state on order_return (shop_id, state, at, return_id);

-- Those that wait for the merchant.
create index order_return_open on order_return (shop_id, at, return_id)
  where state in ('requested', 'approved', 'withdrawn');
