/** The values that the form of the editor would send as it is. */
export function editorFields(text: string): Record<string, string> {
  const [form] = text.slice(text.indexOf('class="page-editor"')).split('</form>') as [string];
  const fields: Record<string, string> = {};
  const decode = (value: string) =>
    value
      .replaceAll('&quot;', '"')
      .replaceAll('&#39;', "'")
      .replaceAll('&lt;', '<')
      .replaceAll('&gt;', '>')
      .replaceAll('&amp;', '&');
  for (const [tag] of form.matchAll(/<input[^>]*>/g)) {
    const name = /\sname="([^"]*)"/.exec(tag)?.[1];
    if (name === undefined || (tag.includes('type="checkbox"') && !/\schecked/.test(tag))) continue;
    fields[name] = decode(/\svalue="([^"]*)"/.exec(tag)?.[1] ?? '');
  }
  for (const [, name, value] of form.matchAll(/<textarea\s[^>]*?name="([^"]*)"[^>]*>\n?([^<]*)<\/textarea>/g))
    fields[name!] = decode(value!);
  for (const [, name, options] of form.matchAll(/<select[^>]*?name="([^"]*)"[^>]*>([\s\S]*?)<\/select>/g))
    fields[name!] =
      /value="([^"]*)"\s+selected/.exec(options!)?.[1] ?? /value="([^"]*)"/.exec(options!)?.[1] ?? '';
  return fields;
}
