-- What an assistant has said for the buyer of its cart and the cart has no place for: the buyer before the address is
-- complete, the addresses with the ids that the assistant knows them by, the codes that were sent, and whether the buyer
-- wants the newsletter. null: no assistant has said anything.
alter table cart add column assistant_notes jsonb;
alter table cart add constraint cart_assistant_notes check (length(assistant_notes::text) <= 200000);
