// One labelled input with its hint and its error, wired for assistive technology.
import type { ComponentChildren } from 'preact';
import type { CardField } from './card-form.ts';

export interface FieldProps {
  readonly field: CardField;
  readonly label: string;
  readonly hint?: string;
  readonly error: string | undefined;
  readonly optional?: string;
  readonly input: {
    readonly inputMode?: 'numeric' | 'email' | 'text';
    readonly autoComplete: string;
    readonly value?: string;
    readonly maxLength: number;
    readonly placeholder?: string;
    /** Digits run left to right in every script. */
    readonly dir?: 'ltr' | 'auto';
  };
  readonly children?: ComponentChildren;
}

export function Field({ field, label, hint, error, optional, input, children }: FieldProps) {
  const describedBy = [error === undefined ? '' : `${field}-error`, hint === undefined ? '' : `${field}-hint`].filter((id) => id !== '').join(' ');
  return (
    <div class={`field field-${field}`}>
      <label for={field}>
        {label}
        {optional !== undefined && <span class="optional"> ({optional})</span>}
      </label>
      <div class="control">
        <input
          id={field}
          name={field}
          type="text"
          inputmode={input.inputMode}
          autocomplete={input.autoComplete}
          autocapitalize={field === 'name' ? 'words' : 'off'}
          autocorrect="off"
          spellcheck={false}
          dir={input.dir}
          value={input.value}
          maxlength={input.maxLength}
          placeholder={input.placeholder}
          aria-required={optional === undefined ? 'true' : undefined}
          aria-invalid={error === undefined ? undefined : 'true'}
          aria-describedby={describedBy === '' ? undefined : describedBy}
        />
        {children}
      </div>
      {hint !== undefined && (
        <p class="hint" id={`${field}-hint`}>
          {hint}
        </p>
      )}
      <p class="field-error" id={`${field}-error`} hidden={error === undefined}>
        {error}
      </p>
    </div>
  );
}
