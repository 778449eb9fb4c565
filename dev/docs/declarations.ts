/** Reads names from declarations, for tests that compare them with the documentation. The code relies on the formatter's layout. */

/** The body of `export interface NAME {…}` or `export class NAME … {…}`. */
function bodyOf(source: string, name: string): string {
  const found = new RegExp(`^export (?:interface|class) ${name}\\b[^\\n]*\\{\\n([\\s\\S]*?)^\\}`, "m").exec(source)
  if (!found) throw new Error(`No interface or class ${name} in this source.`)
  return found[1]!
}

/** The public members of an interface or class, without those marked `@internal`. */
export function membersOf(source: string, name: string): readonly string[] {
  const body = bodyOf(source, name).replace(/^ {2}\/\*\*\s+(?:\* )?@internal[\s\S]*?\n(?= {2}\S)[^\n]*/gm, "")
  const names = [...body.matchAll(/^ {2}(?:readonly |async |get )*([a-z]\w*)(?=[?<(:])/gm)].map(([, member]) => member!)
  return [...new Set(names)].filter((member) => member !== "constructor")
}

/** The events of `QueryEvent`, with name and fields of each member of the union. */
export function unionEvents(source: string, name: string, tag: string): ReadonlyMap<string, readonly string[]> {
  const union = new RegExp(`^export type ${name} =\\n([\\s\\S]*?)\\n\\n`, "m").exec(source)?.[1]
  if (!union) throw new Error(`No union ${name} in this source.`)
  const members = union.split(/^ {2}\| /m).slice(1)
  return new Map(
    members.map((member) => {
      const fields = [...member.matchAll(/\breadonly (\w+)\??:/g)].map(([, field]) => field!)
      const event = new RegExp(`readonly ${tag}: "([^"]+)"`).exec(member)![1]!
      return [event, fields.filter((field) => field !== tag)]
    }),
  )
}

/** The rows of a page's tables whose first cell is code, by the names in that cell. */
export function tableRows(markdown: string): ReadonlyMap<string, string> {
  return new Map(
    markdown.split("\n").flatMap((line) => {
      const [, first] = /^\| ([^|]*`[^|]*) \|/.exec(line) ?? []
      return [...(first ?? "").matchAll(/`([\w-]+)[^`]*`/g)].map(([, name]) => [name!, line] as const)
    }),
  )
}

/** The text from a heading to the next one of the same or a higher level. */
export function sectionOf(markdown: string, heading: string): string {
  const start = markdown.indexOf(`\n${heading}\n`)
  if (start < 0) throw new Error(`No heading "${heading}".`)
  const level = heading.split(" ")[0]!.length
  const rest = markdown.slice(start + heading.length + 1)
  const end = rest.search(new RegExp(`^#{1,${level}} `, "m"))
  return end < 0 ? rest : rest.slice(0, end)
}
