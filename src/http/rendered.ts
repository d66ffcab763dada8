/**
 * An answer that is JSON text already. What is costly to build is rendered once, or kept in the database as text;
 * it goes out as it is, without the schema's serialiser.
 */
export class Rendered {
  readonly json: string;

  constructor(json: string) {
    this.json = json;
  }
}
