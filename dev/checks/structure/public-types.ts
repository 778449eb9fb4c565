/**
 * Finds types that a package's entry uses in its declarations and does not export, so that a user cannot name them. Reads declarations as
 * the compiler writes them, without members marked `@internal`: each statement starts at the beginning of a line.
 */
import { dirname, join, normalize } from "node:path"

/** The file and name under which a name is declared. */
interface Origin {
  readonly file: string
  readonly name: string
}

export interface UnnamedType extends Origin {
  /** The declaration that uses the type. */
  readonly usedBy: string
}

interface Module {
  /** Text of each declaration. Overloads are one text. */
  readonly declared: ReadonlyMap<string, string>
  /** Origin of each name in this file that another file of Strata declares. */
  readonly imported: ReadonlyMap<string, Origin>
  /** Origin of each name that the file exports from another file. */
  readonly passedOn: ReadonlyMap<string, Origin>
}

const STATEMENT = /^(?=(?:export|import|declare|interface|type|class|abstract|const|function)\b)/m
const DECLARATION =
  /^(?:export )?(?:default )?(?:declare )?(?:abstract )?(?:const|let|function|class|interface|type|enum|namespace) (\w+)/
const LIST = /^(import|export) (?:type )?\{([^}]*)\} from "(\.[^"]+)"/
const COMMENT = /\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm
const STRING = /"(?:\\.|[^"\\\n])*"/g
const TYPE_ELSEWHERE = /\bimport\("(\.[^"]+)"\)\.(\w+)/g
/** Matches an `implements` clause, which adds no member: the body of the class declares them. */
const IMPLEMENTS = /(?<=^[^{]*)\bimplements [^{]*(?=\{)/
/** Matches the types that an interface or class extends. */
const BASES =
  /(?<=^(?:export )?(?:declare )?(?:abstract )?(?:interface|class) \w+(?:<(?:[^<>]|<[^<>]*>)*>)? extends )[^{]*(?=\{)/
/**
 * Matches the name of a type, which has a capital letter. Property keys, which a colon follows, and values after `typeof` are not types.
 */
const TYPE_NAME = /(?<![.\w$]|\btypeof )[A-Z]\w*(?!\w|\??:)/g

/**
 * All types that `entry` and its sibling entries do not export, including those that only other unexported types name. A type that others
 * only extend needs no export, but the types of its members do. `read` returns the text of a declaration file.
 */
export function unnamedTypes(
  entry: string,
  read: (file: string) => string,
  others: readonly string[] = [],
): readonly UnnamedType[] {
  const modules = new Map<string, Module>()
  const moduleOf = (file: string): Module => {
    const known = modules.get(file) ?? parse(file, read(file))
    modules.set(file, known)
    return known
  }
  const originOf = ({ file, name }: Origin): Origin => {
    const { passedOn, imported } = moduleOf(file)
    const next = passedOn.get(name) ?? imported.get(name)
    return next ? originOf(next) : { file, name }
  }
  const exportsOf = (file: string): readonly Origin[] => {
    const { passedOn, declared } = moduleOf(file)
    return [...passedOn.values(), ...[...declared.keys()].map((name) => ({ file, name }))].map(originOf)
  }
  const exported = exportsOf(entry)
  const named = new Set([...exported, ...others.flatMap(exportsOf)].map(keyOf))
  const visited = new Map(exported.map((origin) => [keyOf(origin), origin]))
  const unnamed: UnnamedType[] = []
  for (const { file, name } of visited.values()) {
    const { bases, members } = typesIn(moduleOf(file), { file, name })
    for (const used of members.map(originOf)) {
      if (named.has(keyOf(used))) continue
      named.add(keyOf(used))
      unnamed.push({ ...used, usedBy: name })
    }
    for (const used of [...members, ...bases].map(originOf)) visited.set(keyOf(used), used)
  }
  return unnamed
}

const keyOf = ({ file, name }: Origin) => `${file} ${name}`

function parse(file: string, text: string): Module {
  const declared = new Map<string, string>()
  const imported = new Map<string, Origin>()
  const passedOn = new Map<string, Origin>()
  for (const statement of text.replace(COMMENT, "").split(STATEMENT)) {
    const [, word, names, from] = LIST.exec(statement) ?? []
    for (const item of names?.split(",") ?? []) {
      const [name, as = name] = item
        .trim()
        .replace(/^type /, "")
        .split(" as ")
      if (name) (word === "import" ? imported : passedOn).set(as!, { file: fileOf(file, from!), name })
    }
    const name = DECLARATION.exec(statement)?.[1]
    if (name) declared.set(name, (declared.get(name) ?? "") + statement)
  }
  return { declared, imported, passedOn }
}

const fileOf = (from: string, path: string) => normalize(join(dirname(from), path.replace(/\.[jt]sx?$/, ".d.ts")))

function typesIn(module: Module, { file, name }: Origin) {
  const declaration = module.declared.get(name)
  if (declaration === undefined) throw new Error(`${file} does not declare ${name}.`)
  const text = declaration.replace(IMPLEMENTS, "")
  const namedIn = (part: string): readonly Origin[] => [
    ...[...part.matchAll(TYPE_ELSEWHERE)].map(([, path, type]) => ({ file: fileOf(file, path!), name: type! })),
    ...(part.replace(STRING, '""').match(TYPE_NAME) ?? [])
      .filter((type) => type !== name && (module.imported.has(type) || module.declared.has(type)))
      .map((type) => ({ file, name: type })),
  ]
  return { bases: namedIn(BASES.exec(text)?.[0] ?? ""), members: namedIn(text.replace(BASES, "")) }
}
