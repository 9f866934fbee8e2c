//! Generates the implementations of the traits.

use proc_macro::{Group, Ident, Literal, Span, TokenStream, TokenTree};

use crate::parse::{Item, Variant};

/// For each placeholder of a template, its name and the tokens that replace it.
type Parts<'p> = &'p [(&'p str, TokenStream)];

/// Returns the tokens of a template, with each placeholder replaced by its tokens. The inserted
/// tokens keep their spans, so if the type of a field is unsuitable, the compiler reports the error
/// at that field.
fn fill(template: &str, parts: Parts<'_>) -> TokenStream {
    replace(template.parse().expect("a template consists of tokens"), parts)
}

fn replace(template: TokenStream, parts: Parts<'_>) -> TokenStream {
    let replaced = template.into_iter().map(|token| match token {
        TokenTree::Group(group) => {
            TokenTree::from(Group::new(group.delimiter(), replace(group.stream(), parts))).into()
        }
        TokenTree::Ident(name) => match parts.iter().find(|(part, _)| name.to_string() == *part) {
            Some((_, tokens)) => tokens.clone(),
            None => TokenTree::from(name).into(),
        },
        token => token.into(),
    });
    replaced.collect()
}

/// Returns the name as text, without `r#`, as `{:?}` prints it.
fn text(name: &TokenTree) -> TokenStream {
    let name = name.to_string();
    TokenTree::from(Literal::string(name.strip_prefix("r#").unwrap_or(&name))).into()
}

const SOME: &str = "::core::option::Option::Some";
const NONE: &str = "::core::option::Option::None";

/// Fills in the template once for each field. The template may contain the placeholders `FIELD` (a
/// local variable), `NAME`, `LABEL` (the name as text, or `None` in a tuple) and `TYPE`.
fn each_field(variant: &Variant, template: &str) -> TokenStream {
    let filled = variant.fields.iter().enumerate().map(|(index, field)| {
        let variable = TokenTree::from(Ident::new(&format!("__field{index}"), Span::mixed_site()));
        let label = if variant.has_names { format!("{SOME}(TEXT)") } else { NONE.to_owned() };
        let parts = [
            ("FIELD", variable.into()),
            ("NAME", field.name.clone().into()),
            ("LABEL", fill(&label, &[("TEXT", text(&field.name))])),
            ("TYPE", field.of_type.clone()),
        ];
        fill(template, &parts)
    });
    filled.collect()
}

/// Fills in the template once for each variant. The template may contain these placeholders:
///
/// - `CONSTRUCTOR`: the path of the variant, such as `Self::Name`, or `Self` for a struct;
/// - `TEXT`: the name of the variant, as text;
/// - `TAG`: the name of the variant, or `None` for a struct;
/// - the names in `lists`, each of which stands for a list with an entry for each field.
fn each_variant(item: &Item, template: &str, lists: &[(&str, &str)]) -> TokenStream {
    let filled = item.variants.iter().map(|variant| {
        let name = TokenTree::from(variant.name.clone());
        let constructor =
            if item.is_enum { fill("Self::NAME", &[("NAME", name.clone().into())]) } else { fill("Self", &[]) };
        let tag = if item.is_enum { format!("{SOME}(TEXT)") } else { NONE.to_owned() };
        let tag = fill(&tag, &[("TEXT", text(&name))]);
        let mut parts = vec![("CONSTRUCTOR", constructor), ("TEXT", text(&name)), ("TAG", tag)];
        parts.extend(lists.iter().map(|(list, template)| (*list, each_field(variant, template))));
        fill(template, &parts)
    });
    filled.collect()
}

/// Returns an implementation of the trait `name`. It has a bound for each type parameter: the
/// parameter must implement the trait, too.
fn implementation(item: &Item, name: &str, body: TokenStream) -> TokenStream {
    let path = fill("::trueline::history::NAME", &[("NAME", name.parse().expect("the text is an identifier"))]);
    let mut predicates = vec![item.predicates.clone()];
    for parameter in &item.types {
        let comma = if predicates.iter().all(TokenStream::is_empty) { "" } else { "," };
        let parts = [("TYPE", parameter.clone().into()), ("TRAIT", path.clone())];
        predicates.push(fill(&format!("{comma} TYPE: TRAIT"), &parts));
    }
    fill(
        "#[automatically_derived]
        impl<PARAMETERS> TRAIT for ITEM<ARGUMENTS> where PREDICATES { BODY }",
        &[
            ("PARAMETERS", item.parameters.clone()),
            ("TRAIT", path),
            ("ITEM", TokenTree::from(item.name.clone()).into()),
            ("ARGUMENTS", item.arguments.clone()),
            ("PREDICATES", predicates.into_iter().collect()),
            ("BODY", body),
        ],
    )
}

/// Returns the implementation of `Datum`.
pub(crate) fn datum(item: &Item) -> TokenStream {
    let values = each_variant(
        item,
        "CONSTRUCTOR { PATTERN } => ::trueline::_macro_support::to_value(TAG, [VALUES]),",
        &[("PATTERN", "NAME: ref FIELD,"), ("VALUES", "<TYPE as ::trueline::history::Datum>::to_value(FIELD),")],
    );
    let shapes = each_variant(
        item,
        "::trueline::_macro_support::Shape { name: TEXT, fields: &[FIELDS] },",
        &[("FIELDS", "(LABEL, <TYPE as ::trueline::history::Datum>::as_rust),")],
    );
    let as_rust = if item.is_enum { "enum_as_rust" } else { "struct_as_rust" };
    let body = fill(
        "fn to_value(&self) -> ::trueline::history::Value {
            match *self { ARMS }
        }

        fn as_rust(value: &::trueline::history::Value) -> ::trueline::_macro_support::String {
            ::trueline::_macro_support::AS_RUST(value, &[SHAPES])
        }",
        &[("ARMS", values), ("SHAPES", shapes), ("AS_RUST", as_rust.parse().expect("the text is an identifier"))],
    );
    implementation(item, "Datum", body)
}

/// Returns the implementation of `Argument`.
pub(crate) fn argument(item: &Item) -> TokenStream {
    let arms = each_variant(
        item,
        &format!("(TAG, [PATTERN]) => {SOME}(CONSTRUCTOR {{ FIELDS }}),"),
        &[("PATTERN", "FIELD,"), ("FIELDS", "NAME: <TYPE as ::trueline::history::Argument>::from_value(FIELD)?,")],
    );
    let split = if item.is_enum {
        fill("split_enum(value)", &[])
    } else {
        let fields = item.variants.iter().map(|variant| variant.fields.len()).sum();
        fill("split_struct(value, COUNT)", &[("COUNT", TokenTree::from(Literal::usize_unsuffixed(fields)).into())])
    };
    let body = fill(
        &format!(
            "fn from_value(value: &::trueline::history::Value) -> ::core::option::Option<Self> {{
                match ::trueline::_macro_support::SPLIT? {{
                    ARMS
                    _ => {NONE},
                }}
            }}"
        ),
        &[("ARMS", arms), ("SPLIT", split)],
    );
    implementation(item, "Argument", body)
}
