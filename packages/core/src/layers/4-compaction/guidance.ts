/** What every summary should focus on, from instruction files, however the compaction was started. */

const HEADING = /^(#{1,6})\s*compact instructions\s*#*\s*$/i

/** The text under a `Compact Instructions` heading. Several are joined. */
export function compactInstructionsIn(text: string): string {
  const lines = text.split("\n")
  const sections: string[] = []
  lines.forEach((line, at) => {
    const level = HEADING.exec(line.trim())?.[1]?.length
    if (level === undefined) return
    const rest = lines.slice(at + 1)
    const end = rest.findIndex((each) => (/^(#{1,6})\s/.exec(each)?.[1]?.length ?? 7) <= level)
    sections.push((end < 0 ? rest : rest.slice(0, end)).join("\n").trim())
  })
  return sections.filter((section) => section !== "").join("\n\n")
}
