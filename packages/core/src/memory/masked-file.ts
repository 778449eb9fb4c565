/** Removes secrets from a whole memory file, so that its frontmatter stays readable. */
import { findSecrets, maskSecrets } from "../base/secrets/find-secrets.ts"
import { type FileFacts, hasFrontmatter, parseMemory, renderMemory } from "./topic-file.ts"

export interface MaskedFile {
  readonly text: string
  /** One for each secret. */
  readonly kinds: readonly string[]
}

export async function maskFile(file: { file: string; text: string; facts: FileFacts }): Promise<MaskedFile> {
  const kinds = findSecrets(file.text).map(({ kind }) => kind)
  if (kinds.length === 0) return { text: file.text, kinds }
  const masked = maskSecrets(file.text)
  if ((await hasFrontmatter(masked)) || !(await hasFrontmatter(file.text))) return { text: masked, kinds }
  // the mask broke the YAML: write the known fields again. Unknown ones may hold the secret
  const memory = await parseMemory(file)
  const [name, description, body] = [memory.name, memory.description, memory.body].map(maskSecrets)
  return { text: await renderMemory({ ...memory, name: name!, description: description!, body: body! }), kinds }
}
