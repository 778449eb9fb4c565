/** Explains permission rules, for "Yes, and don't ask again". */

/** Describes what a rule allows, as the end of a sentence. */
export function ruleMeaning(rule: string): string {
  const [, tool = rule, pattern] = /^([^(]+)\((.*)\)$/s.exec(rule) ?? []
  if (pattern === undefined) return `every call of ${tool}, with any input`
  if (pattern.startsWith("domain:")) return `every page of ${pattern.slice("domain:".length)}`
  if (pattern.endsWith(":*")) return `every command that starts with "${pattern.slice(0, -":*".length)}"`
  if (tool === "Bash") return "exactly this command"
  if (pattern === "./**") return `${tool} for every file of the project`
  return pattern.endsWith("/**")
    ? `${tool} for every file below ${pattern.slice(0, -"/**".length)}`
    : `${tool} for ${pattern} only`
}
