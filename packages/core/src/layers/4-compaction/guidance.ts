/** L4-26: what a summary is to keep in mind, whoever set the compaction off: said in instruction files and in the settings. */

const HEADING = /^(#{1,6})\s*compact instructions\s*#*\s*$/i

/** The text under a `Compact Instructions` heading; several are put together. */
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
