-- Assistants are told of the orders that their buyers have placed from a queue of their own.
alter table job drop constraint job_queue;
alter table job add constraint job_queue check (queue in ('mail', 'mailing', 'rule call', 'assistant order'));
