// The generated half of the Python client: a method with typed arguments per operation, and a TypedDict per answer.
import { answerOf, bodyOf, type ClientOperation, type Json, resolve } from './clients.ts';

/** Python's own words, which cannot be names: they get a `_` behind, as PEP 8 has it. */
const KEYWORDS =
  /^(False|None|True|and|as|assert|async|await|break|class|continue|def|del|elif|else|except|finally|for|from|global|if|import|in|is|lambda|nonlocal|not|or|pass|raise|return|try|while|with|yield)$/;
const snake = (name: string) =>
  name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`).replace(KEYWORDS, '$&_');
const pascal = (name: string) => name.replaceAll(/(?:^|\.)(\w)/g, (_, letter: string) => letter.toUpperCase());

/** A schema as a Python type, as Python 3.9 writes it. */
function typeOf(schema: Json): string {
  if (schema.$ref) return `"${schema.$ref.split('/').at(-1)}"`;
  const any = (schema.anyOf ?? []) as Json[];
  if (any.length > 0) {
    const nullable = any.some((one) => one.type === 'null');
    const types = [...new Set(any.filter((one) => one.type !== 'null').map(typeOf))];
    const union = types.length === 1 ? types[0]! : `Union[${types.join(', ')}]`;
    return nullable ? `Optional[${union}]` : union;
  }
  if (schema.enum) return `Literal[${schema.enum.map((value: string) => `"${value}"`).join(', ')}]`;
  if (schema.type === 'array') return `List[${typeOf(schema.items)}]`;
  const plain: Record<string, string> = { string: 'str', integer: 'int', number: 'float', boolean: 'bool' };
  if (plain[schema.type]) return plain[schema.type]!;
  return schema.type === 'object' ? 'Dict[str, Any]' : 'Any';
}

/**
 * Fields that may be absent stand in a base of their own: Python 3.9 has no NotRequired. So do those that are words of Python's, which
 * only a call can declare.
 */
function typedDict(name: string, schema: Json): string[] {
  const properties = Object.entries<Json>(schema.properties ?? {});
  const required = new Set<string>(schema.required ?? []);
  const reserved = properties.filter(([field]) => KEYWORDS.test(field));
  const plain = properties.filter(([field]) => !KEYWORDS.test(field));
  const lines = (fields: typeof properties) =>
    fields.length === 0 ? ['    pass'] : fields.map(([field, property]) => `    ${field}: ${typeOf(property)}`);
  const optional = plain.filter(([field]) => !required.has(field));
  const doc = schema.description ? [`    """${schema.description}"""`, ''] : [];
  const bases: [string, string[]][] = [];
  if (optional.length > 0) {
    const base = `_${name}Optional`;
    bases.push([base, [`class ${base}(TypedDict, total=False):`, ...lines(optional), '', '']]);
  }
  if (reserved.length > 0) {
    const base = `_${name}Reserved`;
    const fields = reserved.map(([field, property]) => `"${field}": ${typeOf(property)}`).join(', ');
    bases.push([base, [`${base} = TypedDict("${base}", {${fields}})`, '', '']]);
  }
  return [
    ...bases.flatMap(([, text]) => text),
    `class ${name}(${bases.map(([base]) => base).join(', ') || 'TypedDict'}):`,
    ...doc,
    ...lines(plain.filter(([field]) => required.has(field))),
    '',
    '',
  ];
}

const operationOf = (document: Json, { path, method }: ClientOperation) => document.paths[path][method.toLowerCase()];

interface Argument {
  name: string;
  field: string;
  type: string;
  required: boolean;
  about: string;
}

function argumentsOf(operation: Json, row: ClientOperation): Argument[] {
  const places = operation.parameters.map((one: Json) => ({ ...one, field: one.name }));
  const body = row.body === 'fields' ? bodyOf(operation) : { properties: {} };
  const fields = Object.entries<Json>(body.properties).map(([field, schema]) => ({
    field,
    schema,
    required: (body.required ?? []).includes(field),
    description: schema.description,
  }));
  const whole = {
    field: 'body',
    schema: {},
    required: true,
    description: 'As it was signed: the bytes, or an object.',
  };
  const all: Json[] = [...places, ...fields, ...(row.body === 'whole' ? [whole] : [])];
  return all
    .map(({ field, schema, required, description }) => ({
      name: snake(field),
      field,
      type: typeOf(schema),
      required,
      about: (description ?? schema.description ?? '') as string,
    }))
    .sort((a, b) => Number(b.required) - Number(a.required));
}

/** The name of the answer's type, and its definition where it has no component of its own. */
function answerType(operation: Json, row: ClientOperation): { type: string; defined: string[] } {
  const [, { schema }] = answerOf(operation);
  if (schema.$ref || schema.anyOf) return { type: typeOf(schema), defined: [] };
  const name = `${pascal(row.name)}Answer`;
  return { type: `"${name}"`, defined: typedDict(name, schema) };
}

const generator = (item: string) => `Generator[${item}, None, None]`;

function method(document: Json, row: ClientOperation, answer: string): string[] {
  const operation = operationOf(document, row);
  const args = argumentsOf(operation, row);
  const signature = args.map(({ name, type, required }) => `${name}: ${type}${required ? '' : ' = OMIT'}`);
  const returns = row.stream ? generator(row.stream === 'sse' ? '"FeedItem"' : answer) : answer;
  const call = row.stream ? '_stream' : '_call';
  const docs = args.filter(({ about }) => about).map(({ name, about }) => `        ${name}: ${about}`);
  const head = (verb: string, result: string, text: string) => [
    `    def ${verb}(self, ${['*', ...signature, 'options: Optional[Options] = None'].join(', ')}) -> ${result}:`,
    `        """${text}${docs.length > 0 ? `\n\n${docs.join('\n')}\n        ` : ''}"""`,
  ];
  const input = `{${args.map(({ name, field }) => `"${field}": ${name}`).join(', ')}}`;
  const verb = snake(row.name.split('.')[1]!);
  const one = [
    ...head(verb, returns, `${row.summary}.`),
    `        return self._client.${call}("${row.name}", ${input}, options)`,
    '',
  ];
  if (!row.page) return one;
  const [, { schema }] = answerOf(operation);
  return [...one, ...pages(head, verb, row, input, typeOf(resolve(document, schema).properties[row.page].items))];
}

type Head = (verb: string, result: string, text: string) => string[];
function pages(head: Head, verb: string, row: ClientOperation, input: string, item: string): string[] {
  return [
    ...head(`${verb}_each`, generator(item), `${row.summary}: one after the other, page by page, to the end.`),
    `        return self._client._each("${row.name}", ${input}, options)`,
    '',
  ];
}

/** Name of the file in the package to text. */
export function pythonFiles(document: Json, table: readonly ClientOperation[], note: string): Record<string, string> {
  const answers = new Map(table.map((row) => [row.name, answerType(operationOf(document, row), row)]));
  const types = [
    `# ${note}`,
    '"""What the service answers, as typed dictionaries. Instants are RFC 3339 text in UTC."""',
    'from typing import Any, Dict, List, Literal, Optional, TypedDict, Union',
    '',
    '',
    ...Object.entries<Json>(document.components.schemas).flatMap(([name, schema]) => typedDict(name, schema)),
    ...[...answers.values()].flatMap(({ defined }) => defined),
    'class FeedItem(TypedDict):',
    '    """An event of the feed, and the cursor right behind it: keep it, and give it back to go on."""',
    '',
    '    cursor: str',
    '    event: Union["EntryEvent", "AttemptEvent"]',
    '',
  ];
  const rows = table.map(
    ({ name, method, path, query, body, maxBytes, stream, page, repeatable, integers }) =>
      `    "${name}": Operation(${[method, path].map((text) => `"${text}"`).join(', ')}, (${query
        .map((field) => `"${field}", `)
        .join('')
        .trimEnd()}), ${[body, stream, page].map((text) => (text ? `"${text}"` : 'None')).join(', ')}, ${maxBytes ?? 'None'}, ${repeatable === false ? 'False' : 'True'}${
        integers
          ? `, (${integers
              .map((field) => `"${field}", `)
              .join('')
              .trimEnd()})`
          : ''
      }),`,
  );
  const groups = [...new Set(table.map(({ name }) => name.split('.')[0]!))];
  const classes = groups.flatMap((group) => [
    `class ${pascal(group)}(Group):`,
    ...table
      .filter(({ name }) => name.startsWith(`${group}.`))
      .flatMap((row) => method(document, row, answers.get(row.name)!.type)),
    '',
  ]);
  const text = [
    `# ${note}`,
    '"""Every operation of the service as a method with typed arguments, in groups."""',
    'from typing import Any, Dict, Generator, List, Literal, Optional, Union',
    '',
    'from .operation import OMIT, Group, Operation, Options',
    'from .answers import *  # noqa: F403',
    '',
    '',
    ...classes,
    'class Groups:',
    '    """The groups of a client."""',
    '',
    '    def __init__(self) -> None:',
    ...groups.map((group) => `        self.${snake(group)} = ${pascal(group)}(self)`),
    '',
    '',
    'OPERATIONS: Dict[str, Operation] = {',
    ...rows,
    '}',
    '',
  ].join('\n');
  // The groups above are read as annotations only: the names of answers need no import at run time.
  return { 'answers.py': types.join('\n'), 'operations.py': text };
}
