import type { Queries } from '../db/database.ts';
import { sql } from '../db/sql.ts';
import { section, type Person, type PersonalData } from '../platform/personal-data.ts';

/** Tasks name a customer where a rule fills in who it is about. */
export const taskPersonalData: PersonalData = {
  sections: {
    tasks: section('Tasks of the shop about the customer and their orders.', (db, shopId, person) =>
      findTasksAbout(db, shopId, person),
    ),
  },
  counts: { tasksDeleted: 'Tasks about the customer and their orders.' },
  erase: async (tx, shopId, person) => ({
    counts: { tasksDeleted: await tx.run(sql`delete from task where ${tasksAbout(shopId, person)}`) },
  }),
};

const tasksAbout = (shopId: string, { customerId }: Person) => sql`
  shop_id = ${shopId} and (
    resource_id = ${customerId} or resource_id = any (array(
      select order_id from customer_order where shop_id = ${shopId} and customer_id = ${customerId})))`;

function findTasksAbout(db: Queries, shopId: string, person: Person) {
  return db.many<{ taskId: string; createdOn: Date; text: string; doneOn: Date | null }>(sql`
    select upper(task_id::text) as "taskId", created_at as "createdOn", text, done_at as "doneOn" from task
    where ${tasksAbout(shopId, person)} order by task_id`);
}
