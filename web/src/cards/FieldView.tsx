/* One field of a form that a schema describes. */
import type { Json } from '../lib/json';
import type { Field } from '../lib/schema';
import { clip, label, prose } from '../lib/visible';

export function FieldView({ field, id, isPrivate }: { field: Field; id: string; isPrivate: boolean }) {
  const hint = field.description === '' ? undefined : `${id}-hint`;
  const title = <span>{label(field.title, 120)}{field.isRequired ? '' : ' (optional)'}</span>;
  const help = hint !== undefined && <small id={hint}>{prose(clip(field.description, 500))}</small>;
  if (field.kind === 'boolean') {
    return (
      <label className="field check">
        <input name={id} type="checkbox" defaultChecked={field.initial === true} aria-describedby={hint} />
        {title}
        {help}
      </label>
    );
  }
  return (
    <label className="field">
      {title}
      <Input field={field} id={id} isPrivate={isPrivate} hint={hint} />
      {help}
    </label>
  );
}

function Input({ field, id, isPrivate, hint }: { field: Field; id: string; isPrivate: boolean; hint: string | undefined }) {
  const common = { name: id, required: field.isRequired, autoComplete: 'off', 'aria-describedby': hint };
  const initial = isPrivate ? undefined : asText(field.initial);
  if (field.kind === 'choice') {
    const chosen = field.options.findIndex((option) => option === field.initial);
    return (
      <select {...common} defaultValue={chosen < 0 ? '' : String(chosen)}>
        <option value="" disabled={field.isRequired}>
          Choose…
        </option>
        {field.options.map((option, index) => (
          <option key={index} value={index}>
            {label(asText(option) ?? '', 200)}
          </option>
        ))}
      </select>
    );
  }
  if (isPrivate && field.kind !== 'number') return <input {...common} type="password" spellCheck={false} />;
  if (field.kind === 'number') {
    return <input {...common} type={isPrivate ? 'password' : 'number'} inputMode="decimal" step={field.isInteger ? 1 : 'any'} min={field.min} max={field.max} defaultValue={initial} />;
  }
  if (field.kind === 'text') return <input {...common} type={field.inputType} maxLength={field.maxLength} spellCheck={false} defaultValue={initial} />;
  return <textarea {...common} rows={3} className={field.kind === 'json' ? 'mono' : undefined} maxLength={field.maxLength} defaultValue={initial} />;
}

function asText(value: Json | undefined): string | undefined {
  if (value === undefined) return undefined;
  return typeof value === 'string' ? value : JSON.stringify(value);
}
