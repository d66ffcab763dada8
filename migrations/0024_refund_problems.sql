-- A return whose money the payment provider could not pay back waits for the merchant again.
alter table order_return drop constraint order_return_state;

alter table order_return add constraint order_return_state
  check (state in ('requested', 'approved', 'rejected', 'withdrawn', 'received', 'refunded', 'refundFailed'));

-- Those that wait for the merchant. The index without the new state stays until no version uses it any more.
create index order_return_waiting on order_return (shop_id, at, return_id)
  where state in ('requested', 'approved', 'withdrawn', 'refundFailed');
