/** The list of exact names in a text after a boundary, cut to fewer tokens: its beginning. */

const SECTION = /\n*## Exact names\n[^\n]*\n(`{3,})\n([\s\S]*?)\n\1/
const LINE = /^(said|typed|in results): (.*)$/
const NAME = /"(?:[^"\\]|\\.)*"|\S+/g

/** The same text with at most `limit` tokens of names. */
export function withNamesUpTo(text: string, limit: number, estimate: (text: string) => number): string {
  return text.replace(SECTION, (section, fence: string, list: string) => {
    const head = section.slice(0, section.indexOf(`${fence}\n`) + fence.length + 1)
    let room = limit - estimate(`${head}${fence}`)
    const lines = list.split("\n").flatMap((line) => {
      const [, label = "", names = ""] = LINE.exec(line) ?? []
      room -= estimate(`${label}: \n`)
      const taken: string[] = []
      for (const [name] of names.matchAll(NAME)) {
        if (room <= 0) break
        room -= estimate(` ${name}`)
        if (room >= 0) taken.push(name)
      }
      return taken.length === 0 ? [] : [`${label}: ${taken.join(" ")}`]
    })
    return lines.length === 0 ? "" : `${head}${lines.join("\n")}\n${fence}`
  })
}
