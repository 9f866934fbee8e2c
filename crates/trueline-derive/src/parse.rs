//! Reads the definition of a struct or an enum.
//!
//! The compiler has already parsed the definition, so it is well formed, and its `cfg` attributes
//! are resolved. Types, bounds and where clauses are copied as tokens and never interpreted.

use std::iter::Peekable;

use proc_macro::{Delimiter, Group, Ident, Literal, Span, TokenStream, TokenTree, token_stream};

use crate::Refused;

type Tokens = Peekable<token_stream::IntoIter>;

/// A struct or an enum.
pub(crate) struct Item {
    pub(crate) name: Ident,
    /// The generic parameters as they are written after `impl`: with their bounds, but without
    /// their defaults.
    pub(crate) parameters: TokenStream,
    /// The generic parameters as they are written after the name of the type: without bounds.
    pub(crate) arguments: TokenStream,
    /// The names of the generic parameters that are types.
    pub(crate) types: Vec<TokenTree>,
    /// The predicates of the where clause, without a comma at the end.
    pub(crate) predicates: TokenStream,
    pub(crate) is_enum: bool,
    /// The variants of an enum; a struct has one variant, with the name of the struct.
    pub(crate) variants: Vec<Variant>,
}

/// A variant of an enum, or the body of a struct.
pub(crate) struct Variant {
    pub(crate) name: Ident,
    pub(crate) has_names: bool,
    pub(crate) fields: Vec<Field>,
}

/// A field, in braces or in parentheses.
pub(crate) struct Field {
    /// The name, or the index in a tuple.
    pub(crate) name: TokenTree,
    pub(crate) of_type: TokenStream,
}

/// Parses the type to which the derive macro of the given trait is applied.
pub(crate) fn item(input: TokenStream, derived: &str) -> Result<Item, Refused> {
    let mut tokens = input.into_iter().peekable();
    skip_attributes(&mut tokens)?;
    skip_visibility(&mut tokens);
    let keyword = ident(&mut tokens)?;
    let is_enum = match keyword.to_string().as_str() {
        "struct" => false,
        "enum" => true,
        other => {
            let message = format!(
                "`{derived}` cannot be derived for a {other}, because the macro cannot know which field is valid: use an \
                 enum, or implement `trueline::history::{derived}` by hand"
            );
            return Err(Refused::new(keyword.span(), message));
        }
    };
    let name = ident(&mut tokens)?;
    let (mut parameters, mut arguments, mut types) = (TokenStream::new(), TokenStream::new(), Vec::new());
    if tokens.next_if(|token| is_punct(token, '<')).is_some() {
        while tokens.next_if(|token| is_punct(token, '>')).is_none() {
            parameter(&mut tokens, &mut parameters, &mut arguments, &mut types)?;
        }
    }
    // The body is the last token, with one exception: in `struct Pair<A, B>(A, B) where ..;`, the
    // body is the first of the remaining tokens.
    let mut rest: Vec<TokenTree> = tokens.collect();
    let body = match (rest.pop(), rest.first().cloned()) {
        (Some(TokenTree::Group(body)), _) => Some(body),
        (_, Some(TokenTree::Group(body))) => {
            rest.remove(0);
            Some(body)
        }
        _ => None,
    };
    let mut predicates: Vec<TokenTree> = rest.into_iter().skip(1).collect(); // without `where`
    if predicates.last().is_some_and(|token| is_punct(token, ',')) {
        predicates.pop();
    }
    let variants = match body {
        Some(body) if is_enum => variants(body.stream())?,
        body => vec![variant(name.clone(), body)?],
    };
    Ok(Item { name, parameters, arguments, types, predicates: predicates.into_iter().collect(), is_enum, variants })
}

/// Reads a generic parameter and the comma after it: `'a: 'b`, `T: Bound = Default` or `const N: usize = 1`.
fn parameter(
    tokens: &mut Tokens,
    parameters: &mut TokenStream,
    arguments: &mut TokenStream,
    types: &mut Vec<TokenTree>,
) -> Result<(), Refused> {
    skip_attributes(tokens)?;
    let declared = until(tokens, &[',', '=', '>']);
    if tokens.next_if(|token| is_punct(token, '=')).is_some() {
        until(tokens, &[',', '>']);
    }
    let comma: TokenStream = tokens.next_if(|token| is_punct(token, ',')).into_iter().collect();
    parameters.extend([declared.clone(), comma.clone()]);
    let mut declared = declared.into_iter();
    match declared.next() {
        Some(word) if word.to_string() == "const" => arguments.extend(declared.next()),
        Some(quote) if is_punct(&quote, '\'') => arguments.extend([Some(quote), declared.next()].into_iter().flatten()),
        Some(name) => {
            types.push(name.clone());
            arguments.extend([name]);
        }
        None => {}
    }
    arguments.extend(comma);
    Ok(())
}

fn variants(body: TokenStream) -> Result<Vec<Variant>, Refused> {
    let mut tokens = body.into_iter().peekable();
    let mut found = Vec::new();
    while tokens.peek().is_some() {
        skip_attributes(&mut tokens)?;
        skip_visibility(&mut tokens);
        let name = ident(&mut tokens)?;
        let body = match tokens.next_if(|token| matches!(token, TokenTree::Group(_))) {
            Some(TokenTree::Group(body)) => Some(body),
            _ => None,
        };
        found.push(variant(name, body)?);
        // In the value of a variant, `<` is an operator: `A = 1 << 3`.
        match tokens.next() {
            Some(equals) if is_punct(&equals, '=') => {
                while tokens.next().is_some_and(|token| !is_punct(&token, ',')) {}
            }
            Some(comma) if is_punct(&comma, ',') => {}
            Some(other) => {
                let message = "cannot parse this variant: put the discriminant of the previous variant in parentheses";
                return Err(Refused::new(other.span(), message));
            }
            None => {}
        }
    }
    Ok(found)
}

fn variant(name: Ident, body: Option<Group>) -> Result<Variant, Refused> {
    let has_names = body.as_ref().is_some_and(|body| body.delimiter() == Delimiter::Brace);
    let mut tokens = body.map(|body| body.stream()).unwrap_or_default().into_iter().peekable();
    let mut fields = Vec::new();
    while tokens.peek().is_some() {
        skip_attributes(&mut tokens)?;
        skip_visibility(&mut tokens);
        let name = if has_names {
            let name = ident(&mut tokens)?;
            tokens.next(); // the colon
            name.into()
        } else {
            Literal::usize_unsuffixed(fields.len()).into()
        };
        fields.push(Field { name, of_type: until(&mut tokens, &[',']) });
        tokens.next(); // the comma
    }
    Ok(Variant { name, has_names, fields })
}

/// Returns the tokens before the first token that is one of `ends` and is not between angle
/// brackets.
fn until(tokens: &mut Tokens, ends: &[char]) -> TokenStream {
    let mut found = TokenStream::new();
    let mut depth = 0;
    let mut is_arrow = false;
    while let Some(token) =
        tokens.next_if(|token| depth > 0 || is_arrow || !ends.iter().any(|end| is_punct(token, *end)))
    {
        if is_punct(&token, '<') {
            depth += 1;
        } else if is_punct(&token, '>') && !is_arrow {
            depth -= 1;
        }
        // The `>` of `->` does not close anything.
        is_arrow = is_punct(&token, '-');
        found.extend([token]);
    }
    found
}

fn skip_attributes(tokens: &mut Tokens) -> Result<(), Refused> {
    while tokens.next_if(|token| is_punct(token, '#')).is_some() {
        let Some(TokenTree::Group(attribute)) = tokens.next() else { continue };
        let name = attribute.stream().into_iter().next();
        if let Some(name) = name.filter(|name| name.to_string() == "datum") {
            let message = "the derive macro `Datum` has no options: remove this attribute, or implement \
                           `trueline::history::Datum` by hand to represent the type in another way";
            return Err(Refused::new(name.span(), message));
        }
    }
    Ok(())
}

fn skip_visibility(tokens: &mut Tokens) {
    let is_word = |token: Option<TokenTree>, words: &[&str]| {
        token.is_some_and(|token| words.contains(&token.to_string().as_str()))
    };
    // A `$vis` of a macro is a group without delimiters, which may be empty.
    let is_visibility = |token: &TokenTree| match token {
        TokenTree::Ident(word) => word.to_string() == "pub",
        TokenTree::Group(group) if group.delimiter() == Delimiter::None => {
            group.stream().is_empty() || is_word(group.stream().into_iter().next(), &["pub"])
        }
        _ => false,
    };
    // Parentheses after `pub` may restrict the visibility, as in `pub(crate)`, or they may be a
    // tuple, which is the type of a field.
    let is_scope = |token: &TokenTree| match token {
        TokenTree::Group(group) if group.delimiter() == Delimiter::Parenthesis => {
            let mut words = group.stream().into_iter();
            let first = words.next();
            is_word(first.clone(), &["in"]) || is_word(first, &["crate", "self", "super"]) && words.next().is_none()
        }
        _ => false,
    };
    if tokens.next_if(is_visibility).is_some() {
        tokens.next_if(is_scope);
    }
}

fn ident(tokens: &mut Tokens) -> Result<Ident, Refused> {
    match tokens.next() {
        Some(TokenTree::Ident(ident)) => Ok(ident),
        other => {
            let span = other.map_or_else(Span::call_site, |token| token.span());
            Err(Refused::new(span, "expected a name here; if this is valid Rust, implement the trait by hand"))
        }
    }
}

fn is_punct(token: &TokenTree, expected: char) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == expected)
}
