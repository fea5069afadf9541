/* A JSON Schema as the fields of a form. What a form can't express is asked for as JSON. */
import { isObject, readJson, type Json, type JsonObject } from './json';
import { text } from './wire';

export interface Field {
  /** The member of the payload; undefined where the payload itself is the value. */
  name: string | undefined;
  title: string;
  description: string;
  kind: 'text' | 'long' | 'number' | 'boolean' | 'choice' | 'json';
  inputType: 'text' | 'password' | 'email' | 'url' | 'date';
  isInteger: boolean;
  isRequired: boolean;
  options: Json[];
  initial: Json | undefined;
  min: number | undefined;
  max: number | undefined;
  maxLength: number | undefined;
}

const MOST_FIELDS = 40;
const MOST_OPTIONS = 200;

export function fields(schema: JsonObject | undefined): Field[] {
  const properties = isObject(schema?.['properties']) ? schema['properties'] : undefined;
  if (properties === undefined) return [field(undefined, schema ?? {}, true)];
  const required = Array.isArray(schema?.['required']) ? schema['required'] : [];
  return Object.entries(properties)
    .slice(0, MOST_FIELDS)
    .map(([name, property]) => field(name, isObject(property) ? property : {}, required.includes(name)));
}

function field(name: string | undefined, schema: JsonObject, isRequired: boolean): Field {
  const format = text(schema, 'format');
  const number = (member: string) => (typeof schema[member] === 'number' ? schema[member] : undefined);
  const types: Record<string, Field['inputType']> = { password: 'password', email: 'email', uri: 'url', date: 'date' };
  const options = choices(schema);
  return {
    name,
    title: text(schema, 'title') || (name ?? 'Answer'),
    description: text(schema, 'description'),
    kind: options.length > 0 ? 'choice' : kindOf(schema),
    inputType: types[format] ?? 'text',
    isInteger: schema['type'] === 'integer',
    isRequired,
    options,
    initial: schema['default'],
    min: number('minimum'),
    max: number('maximum'),
    maxLength: number('maxLength'),
  };
}

function choices(schema: JsonObject): Json[] {
  if (Array.isArray(schema['enum'])) return schema['enum'].slice(0, MOST_OPTIONS);
  const alternatives = schema['oneOf'] ?? schema['anyOf'];
  const constants = Array.isArray(alternatives) ? alternatives.filter(isObject).filter((one) => 'const' in one) : [];
  return constants.length === (Array.isArray(alternatives) ? alternatives.length : -1) ? constants.map((one) => one['const'] ?? null) : [];
}

function kindOf(schema: JsonObject): Field['kind'] {
  switch (schema['type']) {
    case 'string':
      return schema['format'] === 'textarea' || Number(schema['maxLength'] ?? 0) > 300 ? 'long' : 'text';
    case 'number':
    case 'integer':
      return 'number';
    case 'boolean':
      return 'boolean';
    case undefined:
      return 'long';
    default:
      return 'json';
  }
}

/** A field's value from what was typed; undefined leaves an optional member out. */
export function valueOf(field: Field, typed: string, isChecked: boolean): Json | undefined {
  if (field.kind === 'boolean') return isChecked;
  if (typed === '' && !field.isRequired) return undefined;
  switch (field.kind) {
    case 'number':
      return Number(typed);
    case 'choice':
      return field.options[Number(typed)];
    case 'json': {
      const value = readJson(typed);
      if (value === undefined) throw new SyntaxError(`${field.title} must be JSON.`);
      return value;
    }
    default:
      return typed;
  }
}

/** The payload that a form's values make. */
export function payload(values: readonly (readonly [Field, Json | undefined])[]): Json {
  const [first] = values;
  if (first !== undefined && first[0].name === undefined) return first[1] ?? null;
  return Object.fromEntries(values.flatMap(([{ name }, value]) => (name === undefined || value === undefined ? [] : [[name, value]])));
}
